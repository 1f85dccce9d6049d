// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/inventory"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/selfhosted"
	"github.com/butlerdotdev/butler/internal/tenants"
	"github.com/butlerdotdev/butler/internal/workspace"
)

// tenant is an object on a cluster that would lose its management with the cluster.
type tenant struct{ kind, name, why string }

func (t tenant) String() string { return t.kind + " " + t.name }

// tenantKinds are the kinds whose objects are always tenants.
var tenantKinds = []schema.GroupKind{
	{Group: v1alpha1.Group, Kind: "TenantCluster"},
	{Group: "cluster.x-k8s.io", Kind: "Cluster"},
	{Group: "cluster.x-k8s.io", Kind: "Machine"},
	{Group: "steward.butlerlabs.dev", Kind: "TenantControlPlane"},
	{Group: "kamaji.clastix.io", Kind: "TenantControlPlane"},
}

const (
	releaseName      = "meta.helm.sh/release-name"
	releaseNamespace = "meta.helm.sh/release-namespace"
)

// findTenants lists the tenants on the cluster. A cluster that is being deleted was
// checked before, and one without a kubeconfig has never run anything. One that is
// managed from this machine need not answer; tenantsError has the cause.
func (x *destruction) findTenants(local client.Client) (err error) {
	if x.unreachable != nil || x.cluster == nil || !x.cluster.DeletionTimestamp.IsZero() {
		return nil
	}
	key := client.ObjectKey{Namespace: x.cluster.Namespace, Name: bootstrap.SecretName(x.Name, bootstrap.SecretKubeconfig)}
	if err := local.Get(x.Context(), key, &corev1.Secret{}); err != nil {
		return client.IgnoreNotFound(err)
	}
	ctx, cancel := context.WithTimeout(x.Context(), selfhosted.CallPatience)
	defer cancel()
	x.tenants, err = x.listTenants(ctx, local)
	if err != nil && !selfhosted.MovedAway(x.cluster) && x.Context().Err() == nil {
		x.tenantsError, err = fmt.Errorf("%s does not answer, so it is not known whether it has tenants: %w", x.Name, err), nil
	}
	return err
}

func (x *destruction) listTenants(ctx context.Context, local client.Client) ([]tenant, error) {
	c, err := x.connectToCluster(ctx, local)
	if err != nil {
		return nil, err
	}
	return tenantsOn(ctx, c, x.releases())
}

// connectToCluster returns a client of the cluster itself.
func (x *destruction) connectToCluster(ctx context.Context, local client.Client) (client.Client, error) {
	config, err := selfhosted.RESTConfig(ctx, local, x.cluster, x.Dial())
	if err != nil {
		return nil, err
	}
	config.Timeout = selfhosted.EpochPatience
	return workspace.NewClient(config)
}

// deleteTenants deletes the tenant clusters while the cluster can still do so, records them
// in the ledger, and refuses to continue if other tenants are left.
func (x *destruction) deleteTenants(local client.Client, found inventory.Inventory) error {
	if !x.job.WithTenants || len(x.tenants) == 0 {
		return nil
	}
	c, err := x.connectToCluster(x.Context(), local)
	if err != nil {
		return err
	}
	all, err := tenants.List(x.Context(), c)
	if err != nil {
		return err
	}
	if err := x.recordTenants(found, all); err != nil {
		return err
	}
	for i := range all { // all at once, then each is waited for
		if err := c.Delete(x.Context(), &all[i]); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete tenant cluster %s: %w", all[i].Name, err)
		}
	}
	for i := range all {
		x.progress.Step(fmt.Sprintf("deleting tenant cluster %s/%s", all[i].Namespace, all[i].Name))
		if err := tenants.Delete(x.Context(), c, &all[i], func(tc *v1alpha1.TenantCluster) { x.progress.Waiting(tenants.Obstacle(tc)) }); err != nil {
			return err
		}
	}
	if err := x.findTenants(local); err != nil {
		return err
	}
	return x.refuseLeft()
}

// recordTenants writes tenant clusters into the ledger: they count as deleted once the
// platform holds nothing of the cluster.
func (x *destruction) recordTenants(found inventory.Inventory, all []v1alpha1.TenantCluster) error {
	l, err := updateLedger(x.Context(), x.Operation, x.cluster.Namespace, x.id, found)
	if err != nil {
		return err
	}
	for _, tc := range all {
		e := entry{tc.Annotations[v1alpha1.AnnotationClusterID], "tenant cluster", tc.Namespace + "/" + tc.Name}
		if !slices.Contains(l.entries, e) {
			l.entries = append(l.entries, e)
		}
	}
	return writeLedger(x.Context(), x.Operation, l)
}

// releases returns the Helm releases of the cluster's own addons, as namespace/name.
func (x *destruction) releases() (out []string) {
	if x.config == nil {
		return nil
	}
	addons, err := operation.AddonsOf(&manifest.Manifest{Cluster: x.cluster, Provider: x.config})
	if err != nil {
		return nil // nothing counts as an addon then
	}
	for _, a := range addons {
		if a.Release != "" {
			out = append(out, a.Namespace.Name+"/"+a.Release)
		}
	}
	return out
}

// tenantsOn lists the tenants on a cluster, by kind and name.
func tenantsOn(ctx context.Context, c client.Client, releases []string) (out []tenant, err error) {
	for _, kind := range tenantKinds {
		found, err := namesOf(ctx, c, kind)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	services, err := balancedServices(ctx, c, releases)
	return append(out, services...), err
}

// namesOf lists the objects of a kind, in whichever version the cluster serves. A
// kind that it does not have has no objects.
func namesOf(ctx context.Context, c client.Client, kind schema.GroupKind) (out []tenant, err error) {
	mapping, err := c.RESTMapper().RESTMapping(kind)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find out whether %s is served: %w", kind, err)
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(mapping.GroupVersionKind)
	if err := c.List(ctx, list); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("list %s: %w", kind, err)
	}
	for _, item := range list.Items {
		out = append(out, tenant{kind.Kind, item.Namespace + "/" + item.Name, kind.Group})
	}
	return out, nil
}

// balancedServices lists the Services of type LoadBalancer that are tenants. Those of
// the cluster's own addons are not, unless they have a finalizer: then a controller has
// created something outside of the cluster, and must delete it first.
func balancedServices(ctx context.Context, c client.Client, releases []string) (out []tenant, err error) {
	var list corev1.ServiceList
	if err := c.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("list Services: %w", err)
	}
	for i := range list.Items {
		s := &list.Items[i]
		own := slices.Contains(releases, s.Annotations[releaseNamespace]+"/"+s.Annotations[releaseName])
		if s.Spec.Type != corev1.ServiceTypeLoadBalancer || own && len(s.Finalizers) == 0 {
			continue
		}
		out = append(out, tenant{"Service", s.Namespace + "/" + s.Name, "type LoadBalancer"})
	}
	return out, nil
}

// describeAll returns what will be deleted and which tenants would be abandoned, as text.
func (x *destruction) describeAll(found inventory.Inventory) string {
	return x.describe(found) + "\n" + x.tenantTable()
}

// tenantTable returns the tenants as text, or why they are not known; empty without any.
func (x *destruction) tenantTable() string {
	if x.tenantsError != nil {
		return fmt.Sprintf("note: %v\n\n", x.tenantsError)
	}
	if len(x.tenants) == 0 {
		return ""
	}
	var text strings.Builder
	what := "which would lose their management"
	if x.job.WithTenants {
		what = "of which tenant clusters are deleted first"
	}
	fmt.Fprintf(&text, "%s has tenants, %s:\n\n", x.Name, what)
	for _, t := range x.tenants {
		fmt.Fprintf(&text, "  %s (%s)\n", t, t.why)
	}
	return text.String() + "\n"
}

// refuseTenants refuses to abandon tenants, unless the user has confirmed that, or has them
// deleted first.
func (x *destruction) refuseTenants() error {
	if x.job.WithTenants {
		return nil
	}
	return x.refuseLeft()
}

// refuseLeft refuses to abandon the tenants that are there.
func (x *destruction) refuseLeft() error {
	if len(x.tenants) == 0 || x.job.EvenIfTenants {
		return nil
	}
	var names []string
	for _, t := range x.tenants {
		names = append(names, t.String())
	}
	if x.job.WithTenants {
		return failure.Usagef("%s still has tenants that are not tenant clusters: %s; the cluster was not deleted; delete them on the cluster, or abandon them: %s --even-if-tenants",
			x.Name, firstFew(names), x.Command("destroy"))
	}
	return failure.Usagef("%s has tenants: %s; nothing was deleted; delete tenant clusters first with %s --with-tenants, and other objects with kubectl on the cluster; or abandon all of them: %s --even-if-tenants",
		x.Name, firstFew(names), x.Command("destroy"), x.Command("destroy"))
}
