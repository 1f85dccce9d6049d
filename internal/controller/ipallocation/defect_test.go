// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipallocation

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// defect is a way in which controllers of the lab are broken on purpose.
type defect string

// The defects that the lab has to find.
const (
	sound        defect = ""
	ignoresTaken defect = "takes an address that exists already for its own"
	unlocked     defect = "writes without looking whether an object has changed"
	unconfirmed  defect = "counts on claims that it does not confirm"
	blindDelete  defect = "deletes claims without looking whether they have changed"
	cachedReads  defect = "decides about releases by its cache"
	disinherits  defect = "lets claims of an earlier allocation go like its own"
)

func (d defect) create(err error) error {
	if d == ignoresTaken && apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func (d defect) delete(opts []client.DeleteOption) []client.DeleteOption {
	if d == blindDelete {
		return nil
	}
	return opts
}

// read makes a claim one that the present allocation created, for controllers that do not look
// at who did.
func (d defect) read(l *lab, o client.Object) {
	c, ok := o.(*v1alpha1.AddressClaim)
	if !ok || d != disinherits {
		return
	}
	for _, a := range l.allocations() {
		if a.Name == c.Spec.AllocationRef.Name {
			metav1.SetMetaDataAnnotation(&c.ObjectMeta, v1alpha1.Group+"/created-for", string(a.UID))
		}
	}
}

// swallows returns whether a write does not take place at all.
func (d defect) swallows(o client.Object, p client.Patch) bool {
	c, ok := o.(*v1alpha1.AddressClaim)
	return ok && d == unconfirmed && c.Spec.ReleasedAt == nil && p.Type() == types.MergePatchType
}

// patch is without the version of the object for controllers that do not look at it.
func (d defect) patch(o client.Object, p client.Patch) client.Patch {
	if d != unlocked {
		return p
	}
	data, err := p.Data(o)
	var content map[string]any
	if err != nil || json.Unmarshal(data, &content) != nil {
		return p
	}
	if m, ok := content["metadata"].(map[string]any); ok {
		delete(m, "resourceVersion")
	}
	data, err = json.Marshal(content)
	if err != nil {
		return p
	}
	return client.RawPatch(p.Type(), data)
}

func (l *lab) clock() time.Time { return l.now }

const labTurns = 400

// TestNoAddressIsHandedOutTwice lets controllers take turns at every call in many ways: more
// if the whole fault matrix is asked for.
func TestNoAddressIsHandedOutTwice(t *testing.T) {
	lives := uint64(40)
	if os.Getenv("BUTLER_TEST_FAULTS") == "all" {
		lives = 2000
	}
	for name, live := range written {
		if wrong := newLab(t, 0, sound).play(live); wrong != "" {
			t.Errorf("%s: %s", name, wrong)
		}
	}
	for seed := range lives {
		if wrong := newLab(t, seed, sound).run(labTurns); wrong != "" {
			t.Fatalf("seed %d: %s", seed, wrong)
		}
	}
}

// TestTheLabFindsControllersThatAreBroken has a controller with each of the defects. Where chance
// takes too long to find it, a life is written for it.
func TestTheLabFindsControllersThatAreBroken(t *testing.T) {
	for d, life := range map[defect]string{
		ignoresTaken: "", cachedReads: "", unlocked: lateRelease, unconfirmed: lateRelease, blindDelete: lateDeletion, disinherits: foreignPlan,
	} {
		t.Run(string(d), func(t *testing.T) {
			wrong := ""
			if life != "" {
				wrong = newLab(t, 0, d).play(written[life])
			}
			for seed := uint64(0); life == "" && wrong == "" && seed < 400; seed++ {
				wrong = newLab(t, seed, d).run(labTurns)
			}
			if !twice.MatchString(wrong) {
				t.Errorf("no address was handed out twice: %s", wrong)
			}
		})
	}
}

// twice is how the lab reports an address that was handed out twice.
var twice = regexp.MustCompile(`^10\.0\.0\.\d is a-\d's and a-\d's`)
