// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/selfhosted"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/internal/workspace"
)

// target holds what a plane knows of the cluster that is destroyed.
type target struct {
	cluster *v1alpha1.ClusterBootstrap // nil: gone already
	config  *v1alpha1.ProviderConfig   // nil: gone already
	secret  *corev1.Secret             // nil: the plane has none
	id      string                     // empty: nothing was ever created
	// requests of the cluster, by owner id.
	requests map[string]requestInfo
	// others are objects on the plane that need what is to be deleted.
	others []string
	// settled is true if the platform has confirmed at the end of a destroy that nothing
	// is left.
	settled bool
}

// requestInfo is a request of a cluster.
type requestInfo struct {
	name string
	// hadObjects is true if the platform had objects for it, and no provider has reported
	// them lost; deleting, if it is being deleted.
	hadObjects, deleting bool
}

// readTarget reads what there is to destroy. The cluster's id is also kept on the
// ProviderConfig, which outlives the ClusterBootstrap: with it an interrupted
// destroy can still list what is left on the platform.
func readTarget(ctx context.Context, w workspace.Workspace, c client.Reader) (*target, error) {
	cb, err := w.FindCluster(ctx, c)
	if err != nil {
		return nil, err
	}
	d := &target{cluster: cb}
	if d.config, err = configOf(ctx, w, c, cb); err != nil {
		return nil, err
	}
	if d.id, err = idOf(ctx, w, c, d); err != nil {
		return nil, err
	}
	if d.secret, err = operation.ReadSecret(ctx, c, d.config); err != nil {
		return nil, err
	}
	if d.requests, err = requestsOf(ctx, c, d.id); err != nil {
		return nil, err
	}
	if d.others, err = d.othersOn(ctx, c); err != nil || d.id == "" {
		return d, err
	}
	l, err := readLedger(ctx, c, w.Name, d.id)
	d.settled = l != nil && l.complete
	return d, err
}

// configOf returns the ProviderConfig of a cluster; nil if the plane has none. If the
// ClusterBootstrap is gone, it is the one with the cluster id of the ledger. One
// without any id belongs to the cluster only if the ledger is not complete and the
// plane has no other.
func configOf(ctx context.Context, w workspace.Workspace, c client.Reader, cb *v1alpha1.ClusterBootstrap) (*v1alpha1.ProviderConfig, error) {
	var configs v1alpha1.ProviderConfigList
	if err := c.List(ctx, &configs); err != nil {
		return nil, err
	}
	if cb != nil {
		return only(configs.Items, func(p v1alpha1.ProviderConfig) bool { return client.ObjectKeyFromObject(&p) == cb.ProviderConfig() }), nil
	}
	l, err := readLedger(ctx, c, w.Name, "")
	if err != nil {
		return nil, err
	}
	if l == nil {
		return only(configs.Items, func(p v1alpha1.ProviderConfig) bool { return p.Annotations[v1alpha1.AnnotationClusterID] != "" }), nil
	}
	kept := only(configs.Items, func(p v1alpha1.ProviderConfig) bool {
		return p.Annotations[v1alpha1.AnnotationClusterID] == l.clusterID
	})
	if kept == nil && !l.complete && len(configs.Items) == 1 && configs.Items[0].Annotations[v1alpha1.AnnotationClusterID] == "" {
		kept = &configs.Items[0]
	}
	return kept, nil
}

// only returns the ProviderConfig that fits, if exactly one does.
func only(configs []v1alpha1.ProviderConfig, fits func(v1alpha1.ProviderConfig) bool) (found *v1alpha1.ProviderConfig) {
	for i := range configs {
		switch {
		case !fits(configs[i]):
		case found != nil:
			return nil
		default:
			found = &configs[i]
		}
	}
	return found
}

// idOf returns the id of a cluster: its own, or else the recorded one.
func idOf(ctx context.Context, w workspace.Workspace, c client.Reader, d *target) (string, error) {
	if d.cluster != nil && d.cluster.Annotations[v1alpha1.AnnotationClusterID] != "" {
		return d.cluster.Annotations[v1alpha1.AnnotationClusterID], nil
	}
	if d.config == nil {
		return "", nil
	}
	if id := d.config.Annotations[v1alpha1.AnnotationClusterID]; id != "" {
		return id, nil
	}
	l, err := readLedger(ctx, c, w.Name, "")
	if err != nil || l == nil || l.complete {
		return "", err
	}
	return l.clusterID, nil
}

// RefuseUnfinished refuses to start while an earlier cluster of the name is not
// destroyed completely: the new one would overwrite the records of what is left of it.
func RefuseUnfinished(ctx context.Context, w workspace.Workspace, c client.Reader) error {
	d, err := readTarget(ctx, w, c)
	if err != nil || d.cluster != nil || d.id == "" {
		return err
	}
	return failure.New(failure.Usage, unfinishedError(w))
}

func unfinishedError(w workspace.Workspace) error {
	return fmt.Errorf("%s is not destroyed completely; finish that first: %s", w.Name, w.Command("destroy"))
}

// ExplainAbsence returns the error for a cluster whose plane has no ClusterBootstrap.
func ExplainAbsence(ctx context.Context, w workspace.Workspace, c client.Reader) error {
	d, err := readTarget(ctx, w, c)
	switch {
	case err != nil:
		return err
	case d.id != "":
		return unfinishedError(w)
	}
	return w.AbsentError()
}

// keepID writes a cluster's id to the ProviderConfig, which outlives the
// ClusterBootstrap. It does not overwrite the id of another cluster: that is the only
// record of what is left of it.
func keepID(ctx context.Context, o *operation.Operation, config *v1alpha1.ProviderConfig, id string) error {
	if config == nil || id == "" || config.Annotations[v1alpha1.AnnotationClusterID] == id {
		return nil
	}
	if earlier := config.Annotations[v1alpha1.AnnotationClusterID]; earlier != "" {
		return fmt.Errorf("ProviderConfig %s has the cluster id %s, of which something may be left; delete that first: butleradm destroy -c FILE --orphans --cluster-id %s; then remove its annotation %s",
			config.Name, earlier, earlier, v1alpha1.AnnotationClusterID)
	}
	before := config.DeepCopy()
	metav1.SetMetaDataAnnotation(&config.ObjectMeta, v1alpha1.AnnotationClusterID, id)
	return o.Local.Patch(ctx, config, client.MergeFrom(before))
}

// readTargetOnCluster reads the target from a cluster that manages itself: its plane is
// newer than the fenced one of this machine.
func readTargetOnCluster(ctx context.Context, w workspace.Workspace, c client.Client, cb *v1alpha1.ClusterBootstrap, progress *ui.Reporter) (*target, error) {
	return retryTransient(ctx, progress, func(ctx context.Context) (*target, error) {
		there, _, err := selfhosted.Connect(ctx, w, c, cb)
		if err != nil {
			return nil, err
		}
		return readTarget(ctx, w, there)
	})
}

// requestsOf returns a cluster's requests by their owner id, or by their UID if they
// have none yet.
func requestsOf(ctx context.Context, c client.Reader, id string) (map[string]requestInfo, error) {
	var machines v1alpha1.MachineRequestList
	var balancers v1alpha1.LoadBalancerRequestList
	if err := errors.Join(c.List(ctx, &machines), c.List(ctx, &balancers)); err != nil {
		return nil, err
	}
	out := map[string]requestInfo{}
	note := func(o client.Object, hadObjects bool) {
		a := o.GetAnnotations()
		if id == "" || a[v1alpha1.AnnotationClusterID] != id {
			return
		}
		owner := a[v1alpha1.AnnotationOwnerID]
		if owner == "" {
			owner = string(o.GetUID())
		}
		out[owner] = requestInfo{o.GetName(), hadObjects, !o.GetDeletionTimestamp().IsZero()}
	}
	for i := range machines.Items {
		s := machines.Items[i].Status
		note(&machines.Items[i], s.ProviderID != "" && s.FailureReason != v1alpha1.ReasonVMLost)
	}
	for i := range balancers.Items {
		note(&balancers.Items[i], balancers.Items[i].Status.ResourceID != "")
	}
	return out, nil
}

// gone reports whether the plane has nothing of the cluster any more.
func (d *target) gone() bool { return d.config == nil && d.cluster == nil }

func (d *target) providerType() v1alpha1.ProviderType {
	if d.config != nil {
		return d.config.Spec.Provider
	}
	return d.cluster.Spec.Provider
}

// retryTransient calls ask again after transient errors, for operation.Patience.
func retryTransient[T any](ctx context.Context, progress *ui.Reporter, ask func(context.Context) (T, error)) (T, error) {
	deadline := time.Now().Add(operation.Patience)
	for wait := minPause; ; wait = nextPause(wait) {
		answer, err := ask(ctx)
		if err == nil || !isTransient(err) || ctx.Err() != nil || time.Now().After(deadline) {
			return answer, err
		}
		progress.Waiting(err.Error())
		if err := pause(ctx, nil, wait); err != nil {
			return answer, err
		}
	}
}
