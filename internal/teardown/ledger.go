// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/inventory"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/provider"
)

// ledger records a destruction: all objects of a cluster that the platform has shown,
// and how many of them were in the last list.
type ledger struct {
	namespace string // where it is kept
	clusterID string
	entries   []entry
	left      int
	// dirty is true if there are entries that are not written yet.
	dirty bool
	// complete is true if the platform has confirmed at the end that nothing is left.
	complete bool
}

// entry is one object on the platform. The owner is part of it, because names are used
// again.
type entry struct {
	Owner string `json:"owner"`
	Kind  string `json:"kind"`
	Name  string `json:"name"`
}

// record adds what the platform holds now.
func (l *ledger) record(now inventory.Inventory) {
	l.left = 0
	for _, h := range now {
		for _, p := range h.Parts {
			l.left++
			e := entry{h.Owner.ID, p.Kind, p.Name}
			if !slices.Contains(l.entries, e) {
				l.entries = append(l.entries, e)
				l.dirty = true
			}
		}
	}
}

// line returns the summary; first is the word for the entries, created or found.
func (l *ledger) line(first string) string {
	var parts []provider.Part
	for _, e := range l.entries {
		parts = append(parts, provider.Part{Kind: e.Kind, Name: e.Name})
	}
	text := fmt.Sprintf("%s %d, deleted %d, left %d", first, len(l.entries), len(l.entries)-l.left, l.left)
	if len(parts) > 0 {
		text += ": " + inventory.CountByKind(parts)
	}
	return text
}

// A ConfigMap holds a ledger below ledgerKey. It has completeKey once the platform has
// confirmed that nothing is left.
const (
	ledgerKey   = "objects.json"
	completeKey = "complete"
)

// ledgerName returns the name of the ConfigMap with the ledger of a cluster. It
// outlives the cluster.
func ledgerName(cluster string) string { return cluster + "-ledger" }

// readLedger returns the ledger of a cluster; nil if there is none. With an id it does
// not return that of an earlier cluster of the name.
func readLedger(ctx context.Context, c client.Reader, cluster, id string) (*ledger, error) {
	var found corev1.ConfigMapList
	if err := c.List(ctx, &found, operation.ByName(ledgerName(cluster))); err != nil {
		return nil, err
	}
	for _, m := range found.Items {
		l := &ledger{namespace: m.Namespace, clusterID: m.Annotations[v1alpha1.AnnotationClusterID], complete: m.Data[completeKey] != ""}
		if l.clusterID == "" || id != "" && l.clusterID != id {
			continue
		}
		if err := json.Unmarshal([]byte(m.Data[ledgerKey]), &l.entries); err != nil {
			return nil, fmt.Errorf("read ConfigMap %s/%s: %w; delete it to count only what is left now", m.Namespace, m.Name, err)
		}
		return l, nil
	}
	return nil, nil
}

// writeLedger stores the ledger for the next run.
func writeLedger(ctx context.Context, o *operation.Operation, l *ledger) error {
	data, err := json.Marshal(l.entries)
	if err != nil {
		return err
	}
	content := map[string]string{ledgerKey: string(data)}
	if l.complete {
		content[completeKey] = "true"
	}
	err = o.Put(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: l.namespace, Name: ledgerName(o.Name),
			Labels:      map[string]string{v1alpha1.LabelCluster: o.Name},
			Annotations: map[string]string{v1alpha1.AnnotationClusterID: l.clusterID},
		},
		Data: content,
	})
	if err != nil {
		return fmt.Errorf("record what is to be deleted: %w", err)
	}
	l.dirty = false
	return nil
}

// updateLedger adds what the platform holds of a cluster to its ledger, and stores it.
// For a cluster without an id nothing was ever created; it deletes the ledger of an
// earlier cluster of the name.
func updateLedger(ctx context.Context, o *operation.Operation, namespace, id string, found inventory.Inventory) (*ledger, error) {
	l := &ledger{clusterID: id}
	if id == "" {
		earlier := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: ledgerName(o.Name)}}
		return l, client.IgnoreNotFound(o.Local.Delete(ctx, earlier))
	}
	known, err := readLedger(ctx, o.Local, o.Name, id)
	if err != nil {
		return nil, err
	}
	if l.namespace = namespace; known != nil {
		l = known
	}
	l.complete = false
	l.record(found)
	return l, writeLedger(ctx, o, l)
}

// Bookkeeper keeps the ledger of a cluster during its bootstrap, in case it is deleted
// by another program: it stores the id on the ProviderConfig, which outlives the
// ClusterBootstrap, and records what the platform holds when the deletion begins.
type Bookkeeper struct {
	*operation.Operation
	Provider      provider.Provider
	kept, counted bool
}

// See records each change of the ClusterBootstrap. A failure is retried at the next
// one: it must not stop the bootstrap.
func (b *Bookkeeper) See(cb *v1alpha1.ClusterBootstrap) {
	id := cb.Annotations[v1alpha1.AnnotationClusterID]
	if b.InCharge() == operation.ClusterPlane || id == "" {
		return
	}
	if !b.kept {
		b.kept = b.keep(cb, id) == nil
	}
	if !b.counted && !cb.DeletionTimestamp.IsZero() {
		b.counted = b.count(cb, id) == nil
	}
}

func (b *Bookkeeper) keep(cb *v1alpha1.ClusterBootstrap, id string) error {
	config := &v1alpha1.ProviderConfig{}
	if err := b.Local.Get(b.Context(), cb.ProviderConfig(), config); err != nil {
		return err
	}
	if err := keepID(b.Context(), b.Operation, config, id); err != nil {
		return err
	}
	known, err := readLedger(b.Context(), b.Local, b.Name, id)
	if err != nil || known != nil && !known.complete {
		return err
	}
	_, err = updateLedger(b.Context(), b.Operation, cb.Namespace, id, nil)
	return err
}

func (b *Bookkeeper) count(cb *v1alpha1.ClusterBootstrap, id string) error {
	s, err := inventory.ReadSite(b.Context(), b.Operation, b.Provider, cb, b.Local)
	if err != nil {
		return err
	}
	found, err := s.ListHeld(b.Context(), provider.Owner{ClusterID: id})
	if err == nil {
		_, err = updateLedger(b.Context(), b.Operation, cb.Namespace, id, found)
	}
	return err
}
