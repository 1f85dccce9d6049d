// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenant_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/tenant"
)

// at returns what is at a path.
func at(t *testing.T, u *unstructured.Unstructured, path string) any {
	t.Helper()
	value, _, err := unstructured.NestedFieldNoCopy(u.Object, strings.Split(path, ".")...)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestObjectsWaitForTheEndpointAndForTheMachineConfiguration(t *testing.T) {
	for _, name := range inputs(t) {
		in := load(t, name)
		in.BootstrapSecret = ""
		if o := build(t, in); o.Infrastructure == nil || o.Template != nil || o.Workers != nil {
			t.Errorf("%s without a machine configuration: %v", name, o.InOrder())
		}
		in.Endpoint = nil
		o := build(t, in)
		if o.Cluster == nil || o.ControlPlane == nil || o.Infrastructure != nil || o.Status != nil || o.Workers != nil {
			t.Errorf("%s without an endpoint: %v", name, o.InOrder())
		}
		if at(t, o.Cluster, "spec.controlPlaneEndpoint") != nil {
			t.Errorf("%s: the Cluster has an endpoint", name)
		}
	}
}

func TestAChangeOfSizeOrImageIsAnotherTemplate(t *testing.T) {
	for _, name := range inputs(t) {
		before := build(t, load(t, name))
		if again := build(t, load(t, name)); again.Template.GetName() != before.Template.GetName() {
			t.Errorf("%s: the same input gives %s and %s", name, before.Template.GetName(), again.Template.GetName())
		}
		in := load(t, name)
		in.Cluster.Spec.Workers.MachineTemplate.DiskSize = resource.MustParse("200Gi")
		after := build(t, in)
		if after.Template.GetName() == before.Template.GetName() {
			t.Errorf("%s: another size has the same template", name)
		}
		if ref := at(t, after.Workers, "spec.template.spec.infrastructureRef.name"); ref != after.Template.GetName() {
			t.Errorf("%s: the workers refer to %v", name, ref)
		}
		if in.Cluster.Spec.Workers.Replicas = 9; build(t, in).Template.GetName() != after.Template.GetName() {
			t.Errorf("%s: more workers have another template", name)
		}
	}
}

func TestRotatedCredentialsChangeNoTemplate(t *testing.T) {
	before := build(t, load(t, "harvester-kubevirt"))
	in := load(t, "harvester-kubevirt")
	in.Credentials[v1alpha1.KeyKubeconfig] = []byte("another")
	after := build(t, in)
	if cmp.Equal(before.Credentials[0].Object, after.Credentials[0].Object) {
		t.Error("the Secret is the same")
	}
	if before.Credentials[0].GetName() != after.Credentials[0].GetName() || before.Template.GetName() != after.Template.GetName() {
		t.Error("names have changed")
	}
}

func TestWorkersFollowTheControlPlane(t *testing.T) {
	in := load(t, "aws")
	in.Cluster.Spec.KubernetesVersion, in.WorkerVersion = "v1.33.0", "v1.32.0"
	o := build(t, in)
	if cp, w := at(t, o.ControlPlane, "spec.version"), at(t, o.Workers, "spec.template.spec.version"); cp != "v1.33.0" || w != "v1.32.0" {
		t.Errorf("control plane %v, workers %v", cp, w)
	}
	in.WorkerVersion = ""
	if w := at(t, build(t, in).Workers, "spec.template.spec.version"); w != "v1.33.0" {
		t.Errorf("workers %v", w)
	}
}

func TestReplicasOfAutoscaledWorkersAreWrittenOnce(t *testing.T) {
	in := load(t, "aws")
	in.Cluster.Spec.Workers.MinReplicas, in.Cluster.Spec.Workers.MaxReplicas = 2, 7
	o := build(t, in)
	if at(t, o.Workers, "spec.replicas") != int64(3) {
		t.Error("the initial number is not written")
	}
	const prefix = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-"
	if diff := cmp.Diff(map[string]string{prefix + "min-size": "2", prefix + "max-size": "7"}, o.Workers.GetAnnotations()); diff != "" {
		t.Error(diff)
	}
	in.Scaled = true
	if r := at(t, build(t, in).Workers, "spec.replicas"); r != nil {
		t.Errorf("replicas %v are written over those of the autoscaler", r)
	}
	in.Cluster.Spec.Workers.MinReplicas, in.Cluster.Spec.Workers.MaxReplicas = 0, 0
	if r := at(t, build(t, in).Workers, "spec.replicas"); r != int64(3) {
		t.Errorf("replicas %v without the autoscaler", r)
	}
}

func TestTheEndpointIsKnownBeforehandBehindAHostname(t *testing.T) {
	for name, want := range map[string]*tenant.Endpoint{
		"steward-gateway": {Host: "shop.payments.k8s.example.com", Port: 6443},
		"steward-ingress": {Host: "shop.payments.k8s.example.com", Port: 443},
		"steward-traefik": {Host: "shop.payments.k8s.example.com", Port: 443},
		"aws":             nil,
	} {
		if diff := cmp.Diff(want, tenant.KnownEndpoint(load(t, name))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	in := load(t, "steward-gateway")
	in.Cluster.Spec.ControlPlane.ServiceType = "LoadBalancer"
	if tenant.KnownEndpoint(in) != nil || at(t, build(t, in).ControlPlane, "spec.network.serviceType") != "LoadBalancer" {
		t.Error("a cluster cannot have a load balancer of its own")
	}
}

func TestTheTalosAPIIsServedByStewardBehindALoadBalancer(t *testing.T) {
	for name, want := range map[string]bool{"aws": true, "steward-gateway": false, "steward-ingress": false, "kamaji": false} {
		in := load(t, name)
		ok, why := tenant.TalosAPI(in)
		if ok != want || (why == "") != want {
			t.Errorf("%s: %v, %q", name, ok, why)
		}
		if built := at(t, build(t, in).ControlPlane, "spec.addons.workerBootstrap") != nil; built != want {
			t.Errorf("%s: workerBootstrap is built: %v", name, built)
		}
	}
}

func TestOutsideNamesWhatIsNotInTheTenantNamespace(t *testing.T) {
	outside := map[string]bool{}
	for _, u := range tenant.Outside("shop-0a1b2c3d") {
		outside[u.GetKind()+" "+u.GetNamespace()+"/"+u.GetName()] = true
	}
	for _, name := range inputs(t) {
		for _, u := range build(t, load(t, name)).InOrder() {
			if key := u.GetKind() + " " + u.GetNamespace() + "/" + u.GetName(); u.GetNamespace() != "shop-0a1b2c3d" && !outside[key] {
				t.Errorf("%s: %s would be left over", name, key)
			}
		}
	}
}

func TestTheMachineConfigurationIsLabelledLikeTheMachines(t *testing.T) {
	in := load(t, "harvester-kubevirt")
	want := map[string]string{
		"cluster.x-k8s.io/cluster-name": "shop", "butler.butlerlabs.dev/tenant": "shop",
		"butler.butlerlabs.dev/cluster": "shop", "butler.butlerlabs.dev/cluster-id": in.ClusterID,
	}
	if diff := cmp.Diff(want, tenant.Labels(in)); diff != "" {
		t.Error(diff)
	}
}

func TestTheTenantNamespaceIsThatOfTheClusterID(t *testing.T) {
	if got := tenant.Namespace("shop", "0a1b2c3d-0000-4000-8000-000000000001"); got != "shop-0a1b2c3d" {
		t.Error(got)
	}
}

func TestWhatIsNotResolvedIsReported(t *testing.T) {
	in := load(t, "harvester-kubevirt")
	in.Resolved.ImageStorageClass = ""
	if _, err := tenant.Build(in); !errors.Is(err, tenant.ErrUnresolved) {
		t.Errorf("got %v", err)
	}
}

func TestAPinnedAddressIsThatOfTheControlPlane(t *testing.T) {
	in := load(t, "aws")
	if got := at(t, build(t, in).ControlPlane, "spec.network.serviceAddress"); got != nil {
		t.Errorf("without one it is %v", got)
	}
	in.ServiceAddress = "198.51.100.4"
	if got := at(t, build(t, in).ControlPlane, "spec.network.serviceAddress"); got != in.ServiceAddress {
		t.Errorf("it is %v", got)
	}
}

func TestAnEndpointDoesNotMove(t *testing.T) {
	for reason, tc := range map[string]struct {
		created, now string // inputs whose ButlerConfig counts
		service      string // type of the TenantCluster's Service now
		want         v1alpha1.ExposureMode
		warned       bool
	}{
		"nothing changes":                    {created: "steward-gateway", now: "steward-gateway", want: v1alpha1.ExposureGateway},
		"the mode becomes Ingress":           {created: "steward-gateway", now: "steward-ingress", want: v1alpha1.ExposureGateway, warned: true},
		"there is no ButlerConfig any more":  {created: "steward-ingress", now: "aws", want: v1alpha1.ExposureIngress, warned: true},
		"a load balancer is wanted":          {created: "steward-gateway", now: "steward-gateway", service: "LoadBalancer", want: v1alpha1.ExposureGateway, warned: true},
		"a load balancer is not the default": {created: "aws", now: "steward-gateway", want: v1alpha1.ExposureLoadBalancer, warned: true},
	} {
		before := build(t, load(t, tc.created))
		in := load(t, tc.created)
		in.Config, in.Cluster.Spec.ControlPlane.ServiceType = load(t, tc.now).Config, tc.service
		in.Exposed = tenant.Exposed(in.Cluster, before.ControlPlane)
		o := build(t, in)
		if in.Mode() != tc.want {
			t.Errorf("%s: %s", reason, in.Mode())
		}
		for _, field := range []string{"ingress", "gateway", "serviceType"} {
			if diff := cmp.Diff(at(t, before.ControlPlane, "spec.network."+field), at(t, o.ControlPlane, "spec.network."+field)); diff != "" {
				t.Errorf("%s: %s", reason, diff)
			}
		}
		warned := slices.ContainsFunc(o.Warnings, func(w string) bool { return strings.Contains(w, "create another cluster") })
		if warned != tc.warned {
			t.Errorf("%s: warnings %q", reason, o.Warnings)
		}
	}
}

func TestAnotherGatewayOfTheSameDomainIsTaken(t *testing.T) {
	in := load(t, "steward-gateway")
	in.Exposed = tenant.Exposed(in.Cluster, build(t, in).ControlPlane)
	in.Config.Spec.ControlPlaneExposure.GatewayRef = "edge/other"
	o := build(t, in)
	want := []any{map[string]any{"name": "other", "namespace": "edge"}}
	if diff := cmp.Diff(want, at(t, o.ControlPlane, "spec.network.gateway.parentRefs")); diff != "" || len(o.Warnings) > 0 {
		t.Error(diff, o.Warnings)
	}
}

func TestWorkersResolveTheNamesOfTheAPIServerAndOfKonnectivity(t *testing.T) {
	api, agents := "shop.payments.k8s.example.com", "shop.payments.konnectivity.example.com"
	for name, want := range map[string][]string{"steward-gateway": {api, agents}, "steward-ingress": {api, agents}, "aws": nil} {
		if diff := cmp.Diff(want, tenant.Hostnames(load(t, name))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	in := load(t, "steward-gateway")
	in.Config.Spec.ControlPlaneExposure.Hostname = "*.Tenants.example.com"
	if diff := cmp.Diff([]string{"shop.payments.tenants.example.com"}, tenant.Hostnames(in)); diff != "" {
		t.Error(diff)
	}
}
