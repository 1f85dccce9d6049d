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
	"github.com/butlerdotdev/butler/internal/timeline"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/internal/workspace"
)

// phasesOf returns how long each phase took, as far as this machine has recorded it.
func phasesOf(w workspace.Workspace) string {
	entries, err := timeline.Read(w.TimelineFile())
	if err != nil {
		return ""
	}
	var out []string
	for _, r := range timeline.New(w.Name, entries, time.Now()).Rows {
		if r.Kind != timeline.KindPhase {
			continue
		}
		for _, s := range r.Spans {
			out = append(out, s.State+" "+ui.Duration(s.End.Sub(s.Begin)))
		}
	}
	return strings.Join(out, ", ")
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
