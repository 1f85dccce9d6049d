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

// target is what a plane knows of the cluster that is to go.
type target struct {
	cluster *v1alpha1.ClusterBootstrap // nil: gone already
	config  *v1alpha1.ProviderConfig   // nil: gone already
	secret  *corev1.Secret             // nil: the plane has none
	id      string                     // empty: nothing was ever made
	// requests are what was asked for, by owner id.
	requests map[string]requestInfo
	// others are what else on the plane needs what is to go.
	others []string
	// settled says that the platform was asked at the end of a destroy, and held
	// nothing.
	settled bool
}

// requestInfo is a request of a cluster.
type requestInfo struct {
	name string
	// made says that the platform has had something for it, and that no provider has seen
	// that vanish; going, that it is being deleted.
	made, going bool
}

// readTarget collects what there is to destroy. The cluster's id is also kept on the
// ProviderConfig, which outlives the ClusterBootstrap: with it an interrupted
// destroy can still ask the platform what is left.
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

// configOf is the ProviderConfig of a cluster; nil means that the plane has none. Where
// the ClusterBootstrap is gone, it is the one that keeps the cluster's id, as the ledger
// has it. One without any id belongs to the cluster only if the ledger is not complete
// and the plane has no other.
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

// only is the ProviderConfig that fits, if exactly one does.
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

// idOf is the id of a cluster: its own, else what was kept of it.
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

// RefuseUnfinished refuses to begin again where an earlier cluster of the name is not
// destroyed to its end: the new one would take the place of all that records what is
// left of it.
func RefuseUnfinished(ctx context.Context, o *operation.Operation) error {
	d, err := readTarget(ctx, o.Workspace, o.Local)
	if err != nil || d.cluster != nil || d.id == "" {
		return err
	}
	return failure.New(failure.Usage, halfDestroyedError(o.Workspace))
}

func halfDestroyedError(w workspace.Workspace) error {
	return fmt.Errorf("%s is not destroyed completely; finish that first: %s", w.Name, w.Command("destroy"))
}

// ExplainAbsence is what there is to say of a cluster whose plane has no ClusterBootstrap.
func ExplainAbsence(ctx context.Context, w workspace.Workspace, c client.Reader) error {
	d, err := readTarget(ctx, w, c)
	switch {
	case err != nil:
		return err
	case d.id != "":
		return halfDestroyedError(w)
	}
	return w.AbsentError()
}

// keepID writes a cluster's id to where it outlives the ClusterBootstrap. The id of
// another cluster that is there is all that is known of what is left of it.
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

// readTargetOnCluster is what a cluster that manages itself knows of itself: its plane is
// newer than the one that was left on this machine.
func readTargetOnCluster(ctx context.Context, w workspace.Workspace, c client.Client, cb *v1alpha1.ClusterBootstrap, progress *ui.Reporter) (*target, error) {
	return insist(ctx, progress, func(ctx context.Context) (*target, error) {
		there, _, err := selfhosted.Connect(ctx, w, c, cb)
		if err != nil {
			return nil, err
		}
		return readTarget(ctx, w, there)
	})
}

// requestsOf are a cluster's requests by their owner id. One that has none so far
// goes by its own.
func requestsOf(ctx context.Context, c client.Reader, id string) (map[string]requestInfo, error) {
	var machines v1alpha1.MachineRequestList
	var balancers v1alpha1.LoadBalancerRequestList
	if err := errors.Join(c.List(ctx, &machines), c.List(ctx, &balancers)); err != nil {
		return nil, err
	}
	out := map[string]requestInfo{}
	note := func(o client.Object, made bool) {
		a := o.GetAnnotations()
		if id == "" || a[v1alpha1.AnnotationClusterID] != id {
			return
		}
		owner := a[v1alpha1.AnnotationOwnerID]
		if owner == "" {
			owner = string(o.GetUID())
		}
		out[owner] = requestInfo{o.GetName(), made, !o.GetDeletionTimestamp().IsZero()}
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

// insist asks a platform that cannot answer now again, for as long as patience
// lasts.
func insist[T any](ctx context.Context, progress *ui.Reporter, ask func(context.Context) (T, error)) (T, error) {
	deadline := time.Now().Add(operation.Patience)
	for wait := soonest; ; wait = longer(wait) {
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
