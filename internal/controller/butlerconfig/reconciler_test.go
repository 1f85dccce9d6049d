// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package butlerconfig

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/controllertest"
)

var api *rest.Config

func TestMain(m *testing.M) { controllertest.Main(m, &api) }

// fixture is a cluster whose ButlerConfig is looked after.
type fixture struct {
	*controllertest.Fixture
	config *v1alpha1.ButlerConfig
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	w := &fixture{controllertest.New(t, api), &v1alpha1.ButlerConfig{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.ButlerConfigName}}}
	w.Must(apiextensionsv1.AddToScheme(w.Scheme()))
	w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	m, err := manager.New(api, manager.Options{Scheme: w.Scheme(), Metrics: server.Options{BindAddress: "0"}})
	w.Must(err)
	w.Must(register(m, &Reconciler{
		Client: m.GetClient(), Live: m.GetAPIReader(), Recorder: m.GetEventRecorder("test"), GatewayPoll: 50 * time.Millisecond,
	}))
	controllertest.Run(t, m)
	return w
}

func (w *fixture) create(o client.Object) {
	w.Helper()
	w.Must(w.Create(w.Context(), o))
}

// set gives the ButlerConfig another spec.
func (w *fixture) set(spec v1alpha1.ButlerConfigSpec) {
	w.Helper()
	w.Must(w.Get(w.Context(), client.ObjectKeyFromObject(w.config), w.config))
	w.config.Spec = spec
	w.Must(w.Update(w.Context(), w.config))
}

// await waits until the ButlerConfig, as it is now, has a mode and a reason.
func (w *fixture) await(mode v1alpha1.ExposureMode, reason string) {
	w.Helper()
	w.Await(func() error {
		w.Must(w.Get(w.Context(), client.ObjectKeyFromObject(w.config), w.config))
		s := w.config.Status
		ready := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReady)
		if ready == nil || ready.Reason != reason || s.ControlPlaneExposureMode != mode ||
			s.ObservedGeneration != w.config.Generation || ready.ObservedGeneration != w.config.Generation {
			return fmt.Errorf("generation %d has the status %+v, not %s by %s", w.config.Generation, s, reason, mode)
		}
		return nil
	})
}

// TestTheConfigurationIsTakenUpAndHealsWithWhatItNames is the life of the one
// ButlerConfig.
func TestTheConfigurationIsTakenUpAndHealsWithWhatItNames(t *testing.T) {
	w := newFixture(t)
	w.config.Spec = provided(v1alpha1.ButlerConfigSpec{})
	w.create(w.config)
	w.await(v1alpha1.ExposureLoadBalancer, reasonProviderMissing)
	provider := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "prod"}}
	provider.Spec.Provider = v1alpha1.ProviderHarvester
	provider.Spec.CredentialsRef = &v1alpha1.SecretReference{Name: "credentials"}
	provider.Spec.Harvester = &v1alpha1.HarvesterSpec{NetworkName: "default/workloads"}
	w.create(provider)
	w.await(v1alpha1.ExposureLoadBalancer, reasonInForce)

	w.classes()
	w.gateways()
	w.Must(w.Delete(t.Context(), provider))
	w.await(v1alpha1.ExposureGateway, reasonProviderMissing)
	w.events(reasonProviderMissing, reasonInForce, reasonClassMissing, reasonGatewayAPIMissing, reasonGatewayMissing)
	w.counts()
	w.quiet()
}

// counts has a Team and a TenantCluster come and go.
func (w *fixture) counts() {
	w.Helper()
	team := &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Name: "payments"}}
	tc := &v1alpha1.TenantCluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "shop"}}
	tc.Spec.KubernetesVersion, tc.Spec.Workers.Replicas = "v1.31.0", 1
	tc.Spec.Workers.MachineTemplate = v1alpha1.TenantMachineTemplateSpec{CPU: 2, Memory: resource.MustParse("4Gi"), DiskSize: resource.MustParse("40Gi")}
	are := func(want int32) {
		w.Helper()
		w.Await(func() error {
			w.Must(w.Get(w.Context(), client.ObjectKeyFromObject(w.config), w.config))
			if s := w.config.Status; s.TeamCount != want || s.ClusterCount != want || !s.TCPProxyRequired {
				return fmt.Errorf("%d teams, %d clusters, proxy %v", s.TeamCount, s.ClusterCount, s.TCPProxyRequired)
			}
			return nil
		})
	}
	w.create(team)
	w.create(tc)
	are(1)
	w.Must(errors.Join(w.Delete(w.Context(), team), w.Delete(w.Context(), tc)))
	are(0)
}

// classes goes through mode Ingress.
func (w *fixture) classes() {
	w.Helper()
	spec := provided(ingress("traefik"))
	spec.ControlPlaneExposure.Hostname = "*.k8s.example.com"
	w.set(spec)
	w.await(v1alpha1.ExposureIngress, reasonClassMissing)
	class := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "traefik"}}
	class.Spec.Controller = "traefik.io/ingress-controller"
	w.create(class)
	w.await(v1alpha1.ExposureIngress, reasonInForce)
	spec.ControlPlaneExposure.IngressClassName = ""
	w.set(spec)
	w.await(v1alpha1.ExposureIngress, reasonClassMissing)
	class.Annotations = map[string]string{networkingv1.AnnotationIsDefaultIngressClass: "true"}
	w.Must(w.Update(w.Context(), class))
	w.await(v1alpha1.ExposureIngress, reasonInForce)
	w.Must(w.Delete(w.Context(), class))
	w.await(v1alpha1.ExposureIngress, reasonClassMissing)
}

// gateways goes through mode Gateway.
func (w *fixture) gateways() {
	w.Helper()
	spec := provided(gateway())
	spec.ControlPlaneExposure.Hostname = "*.k8s.example.com"
	w.set(spec)
	w.await(v1alpha1.ExposureGateway, reasonGatewayAPIMissing)
	w.create(gatewayDefinition())
	w.await(v1alpha1.ExposureGateway, reasonGatewayMissing)
	g := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": gatewayAPI, "kind": "Gateway",
		"metadata": map[string]any{"namespace": namespace, "name": "tenants"},
	}}
	w.create(g)
	w.await(v1alpha1.ExposureGateway, reasonInForce)
	w.Must(w.Delete(w.Context(), g))
	w.await(v1alpha1.ExposureGateway, reasonGatewayMissing)
	g.SetResourceVersion("")
	w.create(g)
	w.await(v1alpha1.ExposureGateway, reasonInForce)
}

func gatewayDefinition() *apiextensionsv1.CustomResourceDefinition {
	d := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
		Name:        "gateways.gateway.networking.k8s.io",
		Annotations: map[string]string{"api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/gateway-api"},
	}}
	d.Spec.Group, d.Spec.Scope = "gateway.networking.k8s.io", apiextensionsv1.NamespaceScoped
	d.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "gateways", Singular: "gateway", Kind: "Gateway", ListKind: "GatewayList"}
	d.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{
		Name: "v1", Served: true, Storage: true,
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
	}}
	return d
}

// events waits until there is one of each reason, with the right type.
func (w *fixture) events(reasons ...string) {
	w.Helper()
	want := map[string]string{}
	for _, r := range reasons {
		want[r] = corev1.EventTypeWarning
	}
	want[reasonInForce] = corev1.EventTypeNormal
	w.Await(func() error {
		var list eventsv1.EventList
		w.Must(w.List(w.Context(), &list))
		got := map[string]string{}
		for _, e := range list.Items {
			if e.Regarding.Kind == "ButlerConfig" {
				got[e.Reason] = e.Type
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("events: %s", diff)
		}
		return nil
	})
}

// quiet looks once more and sees that nothing is written, and that nothing is
// recorded: there is no recorder.
func (w *fixture) quiet() {
	w.Helper()
	version := w.config.ResourceVersion
	r := &Reconciler{Client: w.WithWatch, Live: w.WithWatch}
	if _, err := r.Reconcile(w.Context(), w.config.DeepCopy()); err != nil {
		w.Fatal(err)
	}
	w.Must(w.Get(w.Context(), client.ObjectKeyFromObject(w.config), w.config))
	if w.config.ResourceVersion != version {
		w.Errorf("written although nothing has changed: %+v", w.config.Status)
	}
}
