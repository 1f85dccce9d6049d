// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package lag

import (
	"context"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// server gives every write a new version.
type server struct {
	client.Client
	version int
}

func (s *server) next(o client.Object) {
	s.version++
	o.SetResourceVersion(strconv.Itoa(s.version))
}

func (s *server) Patch(_ context.Context, o client.Object, _ client.Patch, _ ...client.PatchOption) error {
	s.next(o)
	return nil
}

func (s *server) Status() client.SubResourceWriter { return &statusOf{server: s} }

type statusOf struct {
	client.SubResourceWriter
	server *server
}

func (s *statusOf) Patch(_ context.Context, o client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
	s.server.next(o)
	return nil
}

func team() *v1alpha1.Team {
	return &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Name: "blue", UID: "1", ResourceVersion: "0", Finalizers: []string{"f"}}}
}

func TestAVersionThatWasReplacedIsOneOfThePast(t *testing.T) {
	w := &Writes[*v1alpha1.Team]{}
	c := w.Client(&server{})
	if w.Behind(team()) {
		t.Error("behind before any write")
	}
	now := team()
	if err := c.Patch(t.Context(), now, nil); err != nil {
		t.Fatal(err)
	}
	between := now.DeepCopy()
	if err := c.Status().Patch(t.Context(), now, nil); err != nil {
		t.Fatal(err)
	}
	for reason, past := range map[string]*v1alpha1.Team{"before both writes": team(), "between them": between} {
		if !w.Behind(past) {
			t.Errorf("%s: the pass begins", reason)
		}
	}
	if w.Behind(now) || len(w.all) > 0 {
		t.Error("the present version is taken for one of the past, or remembered")
	}
}

func TestOnlyObjectsThatAreReconciledAreNoted(t *testing.T) {
	w := &Writes[*v1alpha1.Team]{}
	c := w.Client(&server{})
	gone := team()
	gone.DeletionTimestamp, gone.Finalizers = &metav1.Time{Time: time.Now()}, nil
	for reason, o := range map[string]client.Object{"another kind": &v1alpha1.ButlerConfig{}, "an object that is gone": gone} {
		if err := c.Patch(t.Context(), o, nil); err != nil {
			t.Fatal(err)
		}
		if len(w.all) > 0 {
			t.Errorf("%s is remembered", reason)
		}
	}
}
