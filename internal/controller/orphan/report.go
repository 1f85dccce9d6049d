// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package orphan

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// The reasons of the events.
const (
	reasonOrphaned = "Orphaned"
	reasonGone     = "OrphanGone"
	reasonDeleting = "OrphanDeleting"
	reasonKept     = "OrphanKept"
	reasonCopied   = "Copied"
)

// report writes the status if the decision changes it, and records what has changed.
func (s *Sweeper) report(ctx context.Context, config *v1alpha1.ProviderConfig, charges map[string]*v1alpha1.ClusterBootstrap, d decision, m *memory) error {
	if err := s.write(ctx, config, d.orphans); err != nil {
		return err
	}
	m.seen = d.seen
	s.Metrics.Orphans(s.Type, client.ObjectKeyFromObject(config).String(), d.total)
	for _, o := range d.appeared {
		if o.Kind == v1alpha1.OrphanCopy {
			s.record(ctx, charges[o.ClusterID], o, reasonCopied, "%s %q is on the platform with the tags of a machine of this cluster since %s; Butler did not create it and does not delete it")
			continue
		}
		s.record(ctx, charges[o.ClusterID], o, reasonOrphaned, "%s %q is on the platform, but no request owns it since %s; see status.orphans of ProviderConfig "+config.Name)
	}
	for _, o := range d.gone {
		delete(m.asked, keyOf(o))
		delete(m.refused, keyOf(o))
		s.record(ctx, charges[o.ClusterID], o, reasonGone, "%s %q, an orphan since %s, is gone or has a request again")
	}
	return nil
}

// write replaces the orphans in the status, and nothing else.
func (s *Sweeper) write(ctx context.Context, config *v1alpha1.ProviderConfig, orphans []v1alpha1.Orphan) error {
	if equality.Semantic.DeepEqual(config.Status.Orphans, orphans) {
		return nil
	}
	// The conditions of the same status are written by others.
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		now := &v1alpha1.ProviderConfig{}
		if err := s.Live.Get(ctx, client.ObjectKeyFromObject(config), now); err != nil {
			return err
		}
		base := now.DeepCopy()
		now.Status.Orphans = orphans
		return s.Client.Status().Patch(ctx, now, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
	})
}

// record records an event about a cluster, and a line in the log. The format takes
// the orphan's kind, its name and since when it is one, and what is added.
func (s *Sweeper) record(ctx context.Context, cb *v1alpha1.ClusterBootstrap, o v1alpha1.Orphan, reason, format string, added ...any) {
	kind := corev1.EventTypeNormal
	if reason == reasonOrphaned || reason == reasonKept {
		kind = corev1.EventTypeWarning
	}
	values := append([]any{word(o.Kind), o.Name, o.FirstSeen.UTC().Format(time.RFC3339)}, added...)
	s.Events.Eventf(cb, nil, kind, reason, "Sweep", format, values...)
	log.FromContext(ctx).Info("orphan", "reason", reason, "kind", o.Kind, "name", o.Name, "id", o.ID, "cluster", o.Cluster, "clusterID", o.ClusterID)
}

func word(k v1alpha1.OrphanKind) string {
	if k == v1alpha1.OrphanLoadBalancer {
		return provider.PartLoadBalancer
	}
	return string(k)
}
