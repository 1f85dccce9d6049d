// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/butlerdotdev/butler/internal/controller/program"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/workspace"
)

var (
	capiCluster = schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta1", Kind: "Cluster"}
	newMachine  = schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Machine"}
	stewardTCP  = schema.GroupVersionKind{Group: "steward.butlerlabs.dev", Version: "v1alpha1", Kind: "TenantControlPlane"}
	kamajiTCP   = schema.GroupVersionKind{Group: "kamaji.clastix.io", Version: "v1alpha1", Kind: "TenantControlPlane"}
)

func objectOf(kind schema.GroupVersionKind, name string) client.Object {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind)
	o.SetNamespace("team")
	o.SetName(name)
	return o
}

// serviceOf is a Service of a Helm release, or of none.
func serviceOf(name string, kind corev1.ServiceType, release string, finalizers ...string) client.Object {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: name, Finalizers: finalizers}}
	if s.Spec.Type = kind; release != "" {
		s.Annotations = map[string]string{releaseNamespace: "traefik", releaseName: release}
	}
	return s
}

// tenantCluster is a cluster that serves some kinds.
func tenantCluster(t *testing.T, kinds []schema.GroupVersionKind, objects ...client.Object) *fake.ClientBuilder {
	t.Helper()
	scheme, err := program.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	versions := []schema.GroupVersion{corev1.SchemeGroupVersion}
	for _, k := range kinds {
		versions = append(versions, k.GroupVersion())
	}
	mapper := meta.NewDefaultRESTMapper(versions)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Service"), meta.RESTScopeNamespace)
	for _, k := range kinds {
		mapper.Add(k, meta.RESTScopeNamespace)
		scheme.AddKnownTypeWithName(k, &unstructured.Unstructured{})
		scheme.AddKnownTypeWithName(k.GroupVersion().WithKind(k.Kind+"List"), &unstructured.UnstructuredList{})
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).WithObjects(objects...)
}

func TestTenantsAreWhatLosesItsManagement(t *testing.T) {
	const balancer, cleanup = corev1.ServiceTypeLoadBalancer, "service.kubernetes.io/load-balancer-cleanup"
	all := []schema.GroupVersionKind{capiCluster, newMachine, stewardTCP, kamajiTCP}
	for reason, c := range map[string]struct {
		kinds   []schema.GroupVersionKind
		objects []client.Object
		want    []string
	}{
		"nothing is served and nothing is there": {},
		"kinds without objects":                  {kinds: all},
		"clusters and machines of any version":   {all, []client.Object{objectOf(capiCluster, "prod"), objectOf(newMachine, "prod-0")}, []string{"Cluster team/prod", "Machine team/prod-0"}},
		"hosted control planes of both kinds":    {all, []client.Object{objectOf(stewardTCP, "a"), objectOf(kamajiTCP, "b")}, []string{"TenantControlPlane team/a", "TenantControlPlane team/b"}},
		"a Service with a load balancer":         {nil, []client.Object{serviceOf("web", balancer, "")}, []string{"Service apps/web"}},
		"a Service without one":                  {nil, []client.Object{serviceOf("web", corev1.ServiceTypeClusterIP, "", cleanup)}, nil},
		"a Service of an addon":                  {nil, []client.Object{serviceOf("traefik", balancer, "traefik")}, nil},
		"one of another release":                 {nil, []client.Object{serviceOf("web", balancer, "shop")}, []string{"Service apps/web"}},
		"one of an addon, made on the platform":  {nil, []client.Object{serviceOf("traefik", balancer, "traefik", cleanup)}, []string{"Service apps/traefik"}},
	} {
		t.Run(reason, func(t *testing.T) {
			found, err := tenantsOn(t.Context(), tenantCluster(t, c.kinds, c.objects...).Build(), []string{"traefik/traefik"})
			var got []string
			for _, f := range found {
				got = append(got, f.String())
			}
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

func TestTenantsThatCannotBeListedAreNotNone(t *testing.T) {
	for kind, list := range map[string]client.ObjectList{"Cluster.cluster.x-k8s.io": &metav1.PartialObjectMetadataList{}, "Services": &corev1.ServiceList{}} {
		broken := tenantCluster(t, []schema.GroupVersionKind{capiCluster}).WithInterceptorFuncs(interceptor.Funcs{
			List: func(ctx context.Context, c client.WithWatch, asked client.ObjectList, o ...client.ListOption) error {
				if sameType(asked, list) {
					return errors.New("no quorum")
				}
				return c.List(ctx, asked, o...)
			},
		}).Build()
		if _, err := tenantsOn(t.Context(), broken, nil); err == nil || !strings.Contains(err.Error(), "list "+kind+": no quorum") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func sameType(a, b client.ObjectList) bool {
	_, services := a.(*corev1.ServiceList)
	_, wanted := b.(*corev1.ServiceList)
	return services == wanted
}

func TestTenantsAreRefusedUnlessTheUserInsists(t *testing.T) {
	x := &destruction{job: &Teardown{}, Operation: &operation.Operation{Workspace: workspace.Workspace{Name: "dev", Dir: "/d"}}, tenants: []tenant{{"Cluster", "team/prod", "cluster.x-k8s.io"}}}
	err := x.refuseTenants()
	if failure.KindOf(err) != failure.Usage || !strings.Contains(err.Error(), "dev has tenants: Cluster team/prod; nothing was deleted") || !strings.HasSuffix(err.Error(), "--even-if-tenants") {
		t.Errorf("refused with %v", err)
	}
	if text := x.tenantTable(); !strings.Contains(text, "  Cluster team/prod (cluster.x-k8s.io)\n") {
		t.Errorf("shown:\n%s", text)
	}
	x.job.EvenIfTenants = true
	if err := x.refuseTenants(); err != nil {
		t.Errorf("insisted: %v", err)
	}
	if x.tenants = nil; x.tenantTable() != "" {
		t.Errorf("no tenants are shown as %q", x.tenantTable())
	}
}
