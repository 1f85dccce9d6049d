// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// sharer is a request with the owner id "one", created so long after the others.
func sharer(namespace, uid, claimedBy string, after time.Duration) *v1alpha1.MachineRequest {
	r := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: "a", UID: types.UID(uid), CreationTimestamp: metav1.NewTime(time.Unix(1e9, 0).Add(after)),
		Annotations: map[string]string{v1alpha1.AnnotationOwnerID: "one"},
	}}
	if claimedBy != "" {
		r.Annotations[v1alpha1.AnnotationClaimedBy] = claimedBy
	}
	return r
}

func claimOf(o client.Object, others ...client.Object) *Claim {
	return &Claim{Object: o, Sharing: func(context.Context, string) ([]client.Object, error) {
		return append(others, o), nil
	}}
}

func TestOneRequestActsUnderAnOwnerID(t *testing.T) {
	const day = 24 * time.Hour
	cases := map[string]struct {
		request *v1alpha1.MachineRequest
		others  []client.Object
		taken   string
	}{
		"alone, not claimed yet": {request: sharer("a", "1", "", 0)},
		"alone, a copy of what is gone, or of what another API server has": {
			request: sharer("a", "2", "1", day), taken: "not on this API server",
		},
		"the original": {
			request: sharer("a", "1", "1", 0), others: []client.Object{sharer("b", "2", "1", day)},
		},
		"the original whose claim was removed": {
			request: sharer("a", "1", "", 0), others: []client.Object{sharer("b", "2", "1", 0)},
		},
		"a copy in another namespace": {
			request: sharer("b", "2", "1", day), others: []client.Object{sharer("a", "1", "1", 0)}, taken: "a/a",
		},
		"a copy whose claim was removed": {
			request: sharer("b", "2", "", day), others: []client.Object{sharer("a", "1", "1", 0)}, taken: "a/a",
		},
		"a copy whose claim was removed, and that seems to be older": {
			request: sharer("b", "2", "", -day), others: []client.Object{sharer("a", "1", "1", 0)}, taken: "a/a",
		},
		"the older one, neither is claimed": {
			request: sharer("a", "1", "", 0), others: []client.Object{sharer("b", "2", "", day)},
		},
		"the younger one, neither is claimed": {
			request: sharer("b", "2", "", day), others: []client.Object{sharer("a", "1", "", 0)}, taken: "a/a",
		},
		"one of the same second, neither is claimed": {
			request: sharer("a", "1", "", 0), others: []client.Object{sharer("b", "2", "", 0)}, taken: "b/a",
		},
		"the other one of the same second": {
			request: sharer("b", "2", "", 0), others: []client.Object{sharer("a", "1", "", 0)}, taken: "a/a",
		},
		"two copies of what is gone, one of them handed over": {
			request: sharer("a", "2", "", 0), others: []client.Object{sharer("b", "3", "1", 0)},
		},
	}
	for reason, tc := range cases {
		got, err := claimOf(tc.request, tc.others...).Taken(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if (got == "") != (tc.taken == "") || !strings.Contains(got, tc.taken) {
			t.Errorf("%s: %q, want %q", reason, got, tc.taken)
		}
	}
}

func TestAClaimedRequestReadsNoOthers(t *testing.T) {
	c := &Claim{Object: sharer("a", "1", "1", 0), Sharing: func(context.Context, string) ([]client.Object, error) {
		return nil, errors.New("asked")
	}}
	if taken, err := c.Taken(t.Context()); taken != "" || err != nil {
		t.Errorf("%q, %v", taken, err)
	}
	c.Object = sharer("a", "1", "", 0)
	if _, err := c.Taken(t.Context()); err == nil {
		t.Error("a request that is not claimed acts without knowing of others")
	}
}

func TestARemovedClaimIsNoticed(t *testing.T) {
	with, without := sharer("a", "1", "2", 0), sharer("a", "1", "", 0)
	p := Disclaimed()
	if !p.Update(event.UpdateEvent{ObjectOld: with, ObjectNew: without}) {
		t.Error("a claim that was removed is not noticed")
	}
	if p.Update(event.UpdateEvent{ObjectOld: without, ObjectNew: with}) || p.Create(event.CreateEvent{Object: with}) {
		t.Error("a reconciler's own claim wakes it")
	}
}
