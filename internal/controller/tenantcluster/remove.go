// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/tenant"
)

// servicePatience is how long the tenant's own controllers may take to remove what they created
// on the platform before it is reported as left, and the deletion continues.
const servicePatience = 5 * time.Minute

// answerPatience is how long the API server of a tenant with workers may be silent before its
// deletion continues without it.
const answerPatience = 30 * time.Second

// removals is the fixed order of a deletion: what the tenant created on the platform, then
// workers, control plane and infrastructure, then what these needed, and their addresses last.
func removals() []func(context.Context, *session) (*step.Obstacle, error) {
	return []func(context.Context, *session) (*step.Obstacle, error){
		removeServices, removeCluster, removeRest, removeOutside, removeNamespace, releaseAddresses, releaseQuota,
	}
}

// remove releases the TenantCluster when everything that it created is gone.
func (r *Reconciler) remove(ctx context.Context, tc *v1alpha1.TenantCluster) (reconcile.Result, error) {
	if !slices.Contains(tc.Finalizers, v1alpha1.FinalizerTenantCluster) {
		return reconcile.Result{}, nil
	}
	id := client.ObjectKeyFromObject(tc).String()
	r.Addons.Forget(id)
	next := tc.DeepCopy()
	s := r.session(next)
	o, err := s.takeDown(ctx)
	if err != nil {
		next.Status.Phase = v1alpha1.TenantDeleting
		set(next, v1alpha1.ConditionReady, metav1.ConditionFalse, reasonRetrying, step.Stable(err))
		return reconcile.Result{}, errors.Join(r.report(ctx, tc, next), err)
	}
	if o != nil {
		next.Status.Phase, next.Status.ObservedGeneration = v1alpha1.TenantDeleting, tc.Generation
		set(next, v1alpha1.ConditionReady, metav1.ConditionFalse, o.Reason, o.Message)
		err := r.report(ctx, tc, next)
		return reconcile.Result{RequeueAfter: r.pollAfter(next, o)}, err
	}
	r.Tenants.Forget(id)
	r.applied.forget(tenantNamespace(tc))
	r.secrets.forget(tenantNamespace(tc))
	before := tc.DeepCopy()
	controllerutil.RemoveFinalizer(tc, v1alpha1.FinalizerTenantCluster)
	return reconcile.Result{}, client.IgnoreNotFound(r.Client.Patch(ctx, tc, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}

// takeDown walks the removals until one is not finished.
func (s *session) takeDown(ctx context.Context) (*step.Obstacle, error) {
	if tenantNamespace(s.TenantCluster) == "" {
		return releaseQuota(ctx, s) // nothing was created
	}
	if o, err := s.checkOwnNamespace(ctx); o != nil || err != nil {
		return o, err
	}
	s.input.Namespace = tenantNamespace(s.TenantCluster)
	for _, next := range removals() {
		if o, err := next(ctx, s); o != nil || err != nil {
			return o, err
		}
	}
	return nil, nil
}

// checkOwnNamespace protects the namespace of another cluster from the deletion of a copy.
func (s *session) checkOwnNamespace(ctx context.Context) (*step.Obstacle, error) {
	found, err := s.namespace(ctx, tenantNamespace(s.TenantCluster))
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err == nil && (found.Labels[v1alpha1.LabelSourceNamespace] != s.Namespace || found.Labels[v1alpha1.LabelSourceName] != s.Name) {
		return reported("NamespaceConflict", "namespace %s belongs to another cluster, so nothing is deleted; remove finalizer %s to release this copy", found.Name, v1alpha1.FinalizerTenantCluster), nil
	}
	return nil, err
}

// removeServices deletes the load balancers of the tenant, while its controllers can still
// remove what these are on the platform. An API server that never came up, or is gone, has
// none that could be removed. Volumes that would stay are reported.
func removeServices(ctx context.Context, s *session) (*step.Obstacle, error) {
	if cluster, err := s.find(ctx, "Cluster"); err != nil || cluster == nil || cluster.GetDeletionTimestamp() != nil {
		return nil, err
	}
	o, err := s.dial(ctx)
	if err != nil || o != nil {
		return nil, err // there is no kubeconfig: it never ran
	}
	ctx, cancel := context.WithTimeout(ctx, exchange)
	defer cancel()
	since := s.Clock().Sub(s.DeletionTimestamp.Time)
	if err := s.answers(ctx); err != nil {
		if s.Status.WorkerNodesReady > 0 && since < answerPatience {
			return polled("TenantUnreachable", "the API server does not answer; the deletion continues without it in a while%s", step.Because(err)), nil
		}
		s.left("TenantUnreachable", "the API server does not answer, so load balancers and volumes that the tenant created on the platform are neither removed nor known")
		return nil, nil
	}
	left, err := s.balancers(ctx)
	if err != nil {
		left = []string{"Services, which could not be read or deleted: " + step.Stable(err)}
	}
	if len(left) > 0 && since < servicePatience {
		return polled("DeletingServices", "load balancers of the tenant are being deleted: %s", step.Listed(left)), nil
	}
	var messages []string
	if len(left) > 0 {
		messages = append(messages, "load balancers of the tenant may be left: "+strings.Join(left, ", "))
	}
	s.left("LeftOnPlatform", append(messages, s.volumes(ctx)...)...)
	return nil, nil
}

// balancers deletes the Services of type LoadBalancer and returns those that still exist.
func (s *session) balancers(ctx context.Context) (left []string, err error) {
	all, err := s.remote.CoreV1().Services(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, service := range all.Items {
		if service.Spec.Type != corev1.ServiceTypeLoadBalancer {
			continue
		}
		if service.DeletionTimestamp == nil {
			if err := s.remote.CoreV1().Services(service.Namespace).Delete(ctx, service.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				return nil, err
			}
		}
		left = append(left, service.Namespace+"/"+service.Name+heldBy(service.Finalizers))
	}
	return left, nil
}

// volumes names those that are not on the disks of the workers. They are kept: their data
// is the user's.
func (s *session) volumes(ctx context.Context) []string {
	all, err := s.remote.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return []string{"the volumes of the tenant could not be listed: " + step.Stable(err)}
	}
	var names []string
	for _, v := range all.Items {
		if csi := v.Spec.CSI; csi != nil && csi.Driver != "driver.longhorn.io" {
			names = append(names, fmt.Sprintf("%s (%s %s)", v.Name, csi.Driver, csi.VolumeHandle))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{"volumes of the tenant are left: " + strings.Join(names, ", ")}
}

// left reports what stays on the platform.
func (s *session) left(reason string, messages ...string) {
	s.remark(v1alpha1.ConditionLeftOnPlatform, reason, messages)
}

func heldBy(finalizers []string) string {
	if len(finalizers) == 0 {
		return ""
	}
	return " (held by finalizer " + strings.Join(finalizers, ", ") + ")"
}

// find returns the cluster's object of a kind of core with its name.
func (s *session) find(ctx context.Context, kind string) (*unstructured.Unstructured, error) {
	served, err := s.served(schema.GroupKind{Group: coreGroup, Kind: kind})
	if err != nil || served.Empty() {
		return nil, err
	}
	if err := s.watch(served); err != nil {
		return nil, err
	}
	return s.read(ctx, served, client.ObjectKey{Namespace: tenantNamespace(s.TenantCluster), Name: s.Name})
}

// removeCluster deletes the Cluster, and with it, in this order, workers, control plane and
// infrastructure. Nothing else is deleted before: credentials outlive what needs them.
func removeCluster(ctx context.Context, s *session) (*step.Obstacle, error) {
	cluster, err := s.find(ctx, "Cluster")
	if err != nil || cluster == nil {
		return nil, err
	}
	s.Tenants.Forget(client.ObjectKeyFromObject(s.TenantCluster).String())
	if cluster.GetDeletionTimestamp() == nil {
		if err := s.delete(ctx, cluster); err != nil {
			return nil, err
		}
	}
	holder, why, err := s.holder(ctx)
	if err != nil {
		return nil, err
	}
	if holder == "" {
		holder = "Cluster " + cluster.GetName() + heldBy(cluster.GetFinalizers())
	}
	return reported("DeletingCluster", "%s is being deleted%s", holder, why), nil
}

// holder names the first object, in the order of deletion, that still exists, with its
// finalizers, and why a machine is kept.
func (s *session) holder(ctx context.Context) (name, why string, err error) {
	for _, kind := range s.remaining() {
		served, err := s.served(kind)
		if err != nil {
			return "", "", err
		}
		if served.Empty() {
			continue
		}
		if err := s.watch(served); err != nil {
			return "", "", err
		}
		all, err := s.list(ctx, served, tenantNamespace(s.TenantCluster))
		if err != nil {
			return "", "", err
		}
		for i := range all {
			if all[i].GetDeletionTimestamp() != nil {
				if kind.Kind == "Machine" {
					why, err = s.whyKept(ctx, &all[i])
				}
				return all[i].GetKind() + " " + all[i].GetName() + heldBy(all[i].GetFinalizers()), why, err
			}
		}
	}
	return "", "", nil
}

// remaining are the kinds of a cluster, in the order in which they are deleted.
func (s *session) remaining() []schema.GroupKind {
	out := []schema.GroupKind{{Group: coreGroup, Kind: "Machine"}, {Group: coreGroup, Kind: "MachineSet"}, {Group: coreGroup, Kind: "MachineDeployment"}}
	out = append(out, schema.GroupKind{Group: controlPlaneGroup, Kind: "StewardControlPlane"}, schema.GroupKind{Group: controlPlaneGroup, Kind: "KamajiControlPlane"})
	if s.provider != nil {
		if infrastructure, _, err := tenant.Kinds(s.provider); err == nil {
			out = append(out, infrastructure.GroupKind())
		}
	}
	return out
}

// removeRest deletes what has no Cluster: objects of a creation that was interrupted.
func removeRest(ctx context.Context, s *session) (*step.Obstacle, error) {
	if _, err := s.lookUpProvider(ctx); err != nil {
		return nil, err
	}
	for _, kind := range s.remaining() {
		served, err := s.served(kind)
		if err != nil {
			return nil, err
		}
		if served.Empty() {
			continue
		}
		if err := s.watch(served); err != nil {
			return nil, err
		}
		all, err := s.list(ctx, served, tenantNamespace(s.TenantCluster))
		if err != nil {
			return nil, err
		}
		for i := range all {
			if all[i].GetDeletionTimestamp() == nil {
				if err := s.delete(ctx, &all[i]); err != nil {
					return nil, err
				}
			}
			return reported("DeletingCluster", "%s %s is being deleted%s", all[i].GetKind(), all[i].GetName(), heldBy(all[i].GetFinalizers())), nil
		}
	}
	return nil, nil
}

// lookUpProvider reads the ProviderConfig that the cluster was created with, if it still exists.
func (s *session) lookUpProvider(ctx context.Context) (*v1alpha1.ProviderConfig, error) {
	key, _ := s.providerKey()
	if s.provider != nil || key.Name == "" {
		return s.provider, nil
	}
	config := &v1alpha1.ProviderConfig{}
	if err := s.Client.Get(ctx, key, config); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	s.provider = config
	return config, nil
}

// removeOutside deletes what is not in the namespace: credentials that a provider wants
// elsewhere.
func removeOutside(ctx context.Context, s *session) (*step.Obstacle, error) {
	config, err := s.lookUpProvider(ctx)
	if err != nil || config != nil && config.Spec.Provider != v1alpha1.ProviderAWS || config == nil && s.Status.ProviderConfigRef == nil {
		return nil, err // only the provider of AWS wants some
	}
	for _, o := range tenant.Outside(tenantNamespace(s.TenantCluster)) {
		kind := o.GroupVersionKind()
		served, err := s.served(kind.GroupKind(), kind.Version)
		if err != nil {
			return nil, err
		}
		if served.Empty() {
			continue
		}
		if err := s.enter(ctx, o.GetNamespace()); apierrors.IsNotFound(err) {
			continue // the namespace of the provider is gone
		} else if err != nil {
			return nil, err
		}
		if err := s.delete(ctx, o); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// removeNamespace deletes the namespace, and waits: addresses and the name are free only then.
func removeNamespace(ctx context.Context, s *session) (*step.Obstacle, error) {
	found := &corev1.Namespace{}
	err := s.Live.Get(ctx, client.ObjectKey{Name: tenantNamespace(s.TenantCluster)}, found)
	if err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	if found.DeletionTimestamp == nil {
		if err := s.delete(ctx, found); err != nil {
			return nil, err
		}
	}
	for _, c := range found.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == corev1.NamespaceContentRemaining || c.Type == corev1.NamespaceFinalizersRemaining) {
			return reported("DeletingNamespace", "namespace %s is being deleted: %s", found.Name, c.Message), nil
		}
	}
	return reported("DeletingNamespace", "namespace %s is being deleted", found.Name), nil
}
