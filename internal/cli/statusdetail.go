// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/history"
	"github.com/butlerdotdev/butler/internal/plan"
	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/timeline"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/internal/workspace"
)

// progress is how long a bootstrap has taken and still takes, as far as this machine has
// recorded it.
type progress struct {
	Phases    []history.Phase    `json:"phases,omitempty"`
	Remaining *history.Remaining `json:"remaining,omitempty"`
}

// progressOf returns the progress of a cluster. What remains is only known of a bootstrap that
// a process works on, and from recorded runs of the same kind.
func progressOf(w workspace.Workspace, p v1alpha1.ProviderType, cb *v1alpha1.ClusterBootstrap) (out progress) {
	entries, err := timeline.Read(w.TimelineFile())
	if err != nil {
		return out
	}
	t := timeline.New(w.Name, entries, time.Now())
	out.Phases = t.Phases()
	if n := len(out.Phases); n > 0 && !t.Ready && cb.DeletionTimestamp == nil && w.Holder() != "" {
		out.Remaining = remainingOf(w, p, cb, out.Phases[n-1])
	}
	return out
}

// remainingOf estimates how long a bootstrap still takes that is in a phase.
func remainingOf(w workspace.Workspace, p v1alpha1.ProviderType, cb *v1alpha1.ClusterBootstrap, now history.Phase) *history.Remaining {
	home, err := workspace.Home()
	if err != nil {
		return nil
	}
	runs, err := history.Load(home)
	if err != nil {
		return nil
	}
	simulated, _, _ := sim.Running(w.SimDir())
	return history.NewRemaining(runs, history.KindOf(p, cb.Spec.Cluster.Topology, w.Rehearsal, simulated.Setup.Profile), now)
}

// passed returns how long each phase took, as text.
func (p progress) passed() string {
	var out []string
	for _, each := range p.Phases {
		out = append(out, string(each.Name)+" "+durationOf(each.Seconds))
	}
	return strings.Join(out, ", ")
}

// left returns how long the bootstrap still takes, as text; it is empty if nothing is known.
func (p progress) left() string {
	r := p.Remaining
	if r == nil {
		return ""
	}
	var phases []string
	for _, e := range r.Phases {
		phases = append(phases, string(e.Phase)+" "+durationOf(e.Median))
	}
	text := fmt.Sprintf("about %s, as in %d recorded run(s): %s", plan.Spread(r.Total), r.Total.Runs, strings.Join(phases, ", "))
	if r.Overdue {
		text += fmt.Sprintf("; %s already takes longer than in any of them", r.Phases[0].Phase)
	}
	return text
}

func durationOf(seconds float64) string {
	return ui.Duration(time.Duration(seconds * float64(time.Second)))
}

// credentialsOf returns when the certificates of kubeconfig and talosconfig end.
func (a App) credentialsOf(ctx context.Context, c client.Client, cb *v1alpha1.ClusterBootstrap) string {
	var out []string
	for _, suffix := range []string{bootstrap.SecretKubeconfig, bootstrap.SecretTalosconfig} {
		secret := &corev1.Secret{}
		key := client.ObjectKey{Namespace: cb.Namespace, Name: bootstrap.SecretName(cb.Spec.Cluster.Name, suffix)}
		if err := c.Get(ctx, key, secret); err != nil {
			continue // it is not issued yet, or was deleted, which a condition reports
		}
		if end, known := bootstrap.Expiry(suffix, secret.Data[suffix]); known {
			out = append(out, fmt.Sprintf("%s until %s", suffix, end.UTC().Format(time.DateOnly)))
		}
	}
	return strings.Join(out, ", ")
}

// requestsOf returns the MachineRequests of a cluster by name.
func requestsOf(ctx context.Context, c client.Client, cb *v1alpha1.ClusterBootstrap) map[string]v1alpha1.MachineRequest {
	var list v1alpha1.MachineRequestList
	if err := c.List(ctx, &list, client.InNamespace(cb.Namespace), client.MatchingLabels{v1alpha1.LabelClusterBootstrap: cb.Name}); err != nil {
		return nil
	}
	out := map[string]v1alpha1.MachineRequest{}
	for _, r := range list.Items {
		out[r.Name] = r
	}
	return out
}
