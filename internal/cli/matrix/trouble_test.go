// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rehearsals

package matrix

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// trouble is what a tenant cluster meets in each of its operations.
type trouble struct {
	name string
	// plans are the fault plans of the platform, by operation; they hold until they are lifted.
	plans map[operation]string
	// down is what the label of Cluster API's providers begins with that do not run meanwhile.
	down string
	// says are words of which the command has to say one before the trouble ends. Without any
	// it ends by itself.
	says map[operation][]string
	// late begins a creation's trouble once the control plane has its address: workers are next.
	late bool
	// begun begins the trouble of an upgrade or a deletion once the command has asked for it: one that
	// cannot reach the management cluster says so and stops.
	begun bool
	// turn is that of a trial.
	turn int
}

func (tr trouble) meets(index int) bool { return trial{turn: tr.turn}.meets(index) }

// due reports whether a trouble is to begin.
func (tr trouble) due(h *host, o operation) bool {
	tc := &v1alpha1.TenantCluster{}
	err := h.api.Get(h.Context(), client.ObjectKey{Namespace: v1alpha1.DefaultTenantsNamespace, Name: tenantName}, tc)
	switch {
	case o == tenantCreate:
		return !tr.late || err == nil && tc.Status.ControlPlaneEndpoint != ""
	case o == tenantUpgrade && tr.begun:
		return err == nil && tc.Spec.KubernetesVersion == upgraded
	case o == tenantDelete && tr.begun:
		return err != nil || tc.DeletionTimestamp != nil
	}
	return true
}

// begin brings the trouble about, and returns what ends it.
func (tr trouble) begin(h *host, o operation) (end func()) {
	switch {
	case tr.down != "":
		return h.shutDown(tr.down)
	case tr.plans[o] == "":
		return func() {}
	case len(tr.says[o]) == 0:
		h.setPlan(tr.plans[o])
		return func() {}
	}
	return h.setFaults(tr.plans[o])
}

// in has the same in all operations.
func in[T any](all T) map[operation]T {
	return map[operation]T{tenantCreate: all, tenantUpgrade: all, tenantDelete: all}
}

// troubles are all of them. The words are those of any platform.
func troubles() []trouble {
	const (
		quota   = "  - {kind: quota, resource: machine}"
		expired = "  - {kind: tokenExpiry}"
		silent  = "  - {kind: hang}"
		storm   = "  - {kind: throttle, for: 6s, retryAfter: 1s}"
		lost    = "  - {kind: lostResponse, verb: create, resource: machine, times: 1}"
		undone  = "  - {kind: lostResponse, verb: delete, resource: machine, times: 1}"
		gone    = "  - {kind: apiServerDies, for: 5s}"
	)
	full := []string{"quota", "Quota", "LimitExceeded", "limit"}
	refused := []string{"nauthorized", "credentials", "password", "uthenti", "AuthFailure", "expired", "token"}
	mute := []string{"no answer", "not answer", "timeout", "timed out", "deadline"}
	return []trouble{
		{name: "quota used up", turn: 1, plans: map[operation]string{tenantCreate: quota, tenantUpgrade: quota}, says: map[operation][]string{tenantCreate: full, tenantUpgrade: full}},
		{name: "credentials expired", turn: 2, late: true, plans: in(expired), says: in(refused)},
		{name: "silent platform", turn: 3, late: true, plans: in(silent), says: in(mute)},
		{name: "throttle storm", turn: 1, late: true, plans: in(storm)},
		{name: "lost response", turn: 2, plans: map[operation]string{tenantCreate: lost, tenantUpgrade: lost, tenantDelete: undone}},
		{name: "infrastructure provider down", turn: 3, down: "infrastructure-", says: in([]string{"not ready", "no pod that is ready", "Machine", "machine"})},
		{name: "control plane provider down", turn: 1, down: "control-plane-", says: in([]string{"control plane", "ControlPlane"})},
		{name: "management API server killed", turn: 2, late: true, begun: true, plans: in(gone)},
	}
}

// shutDown scales the Deployments of providers to zero, and returns what brings them back.
func (h *host) shutDown(prefix string) (bringBack func()) {
	h.Helper()
	var all appsv1.DeploymentList
	if err := h.api.List(h.Context(), &all); err != nil {
		h.Fatal(err)
	}
	var down []appsv1.Deployment
	for _, d := range all.Items {
		if strings.HasPrefix(d.Labels["cluster.x-k8s.io/provider"], prefix) {
			h.scale(d, 0)
			down = append(down, d)
		}
	}
	if len(down) == 0 {
		h.Errorf("no Deployment is of a provider %s…", prefix)
	}
	return func() {
		for _, d := range down {
			h.scale(d, 1)
		}
	}
}

func (h *host) scale(d appsv1.Deployment, replicas int32) {
	h.Helper()
	now := d.DeepCopy()
	now.Spec.Replicas = &replicas
	if err := h.api.Patch(h.Context(), now, client.MergeFrom(withReplicas(d))); err != nil {
		h.Error(err)
	}
}

// withReplicas has a number that no Deployment has, so that a patch always has one.
func withReplicas(d appsv1.Deployment) *appsv1.Deployment {
	d = *d.DeepCopy()
	d.Spec.Replicas = new(int32(99))
	return &d
}
