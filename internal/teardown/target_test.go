// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"io"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/program"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/internal/workspace"
)

// metaOf is the metadata of an object of the cluster with an id; the empty one is
// of no cluster.
func metaOf(name, id string) metav1.ObjectMeta {
	m := metav1.ObjectMeta{Namespace: "here", Name: name, UID: types.UID(name)}
	if id != "" {
		m.Annotations = map[string]string{v1alpha1.AnnotationClusterID: id}
	}
	return m
}

func bootstrapOf(name, id, plane string) *v1alpha1.ClusterBootstrap {
	cb := &v1alpha1.ClusterBootstrap{ObjectMeta: metaOf(name, id)}
	cb.Spec.Cluster.Name, cb.Spec.ProviderRef.Name = name, "config"
	metav1.SetMetaDataAnnotation(&cb.ObjectMeta, v1alpha1.AnnotationPlane, plane)
	return cb
}

func machineOf(name, id, config string) *v1alpha1.MachineRequest {
	r := &v1alpha1.MachineRequest{ObjectMeta: metaOf(name, id)}
	r.Spec.ProviderRef.Name = config
	return r
}

func ledgerOf(id string, data map[string]string) *corev1.ConfigMap {
	data[ledgerKey] = "[]"
	return &corev1.ConfigMap{ObjectMeta: metaOf(ledgerName("dev"), id), Data: data}
}

func indexedPlane(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme, err := program.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	name := func(o client.Object) []string { return []string{o.GetName()} }
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithIndex(&corev1.ConfigMap{}, "metadata.name", name).WithIndex(&v1alpha1.NetworkPool{}, "metadata.name", name).Build()
}

func TestIDOutlivesTheClusterBootstrap(t *testing.T) {
	config := func(id string) *v1alpha1.ProviderConfig {
		return &v1alpha1.ProviderConfig{ObjectMeta: metaOf("config", id)}
	}
	for reason, c := range map[string]struct {
		objects []client.Object
		want    string
	}{
		"its own":                    {[]client.Object{bootstrapOf("dev", "x", "local"), config("x")}, "x"},
		"its own before a kept one":  {[]client.Object{bootstrapOf("dev", "x", "local"), config("y")}, "x"},
		"kept, with a new one":       {[]client.Object{bootstrapOf("dev", "", "local"), config("x")}, "x"},
		"kept":                       {[]client.Object{config("x")}, "x"},
		"kept beside another config": {[]client.Object{config("x"), &v1alpha1.ProviderConfig{ObjectMeta: metaOf("more", "")}}, "x"},
		"in the ledger":              {[]client.Object{config(""), ledgerOf("x", map[string]string{})}, "x"},
		"in a ledger at its end":     {[]client.Object{config(""), ledgerOf("x", map[string]string{completeKey: "true"})}, ""},
		"never given":                {[]client.Object{bootstrapOf("dev", "", "local"), config("")}, ""},
		"nothing there":              {nil, ""},
	} {
		t.Run(reason, func(t *testing.T) {
			plane := indexedPlane(t, c.objects...)
			d, err := readTarget(t.Context(), workspace.Workspace{Name: "dev"}, plane)
			if err != nil || d.id != c.want {
				t.Errorf("got %q, %v, want %q", d.id, err, c.want)
			}
			if err := RefuseUnfinished(t.Context(), workspace.Workspace{Name: "dev"}, plane); (err != nil) != (c.want != "" && d.cluster == nil) {
				t.Errorf("a new one is refused: %v", err)
			}
		})
	}
}

func TestAProviderConfigThatIsNotTheClustersIsLeftAlone(t *testing.T) {
	config := func(name, id string) *v1alpha1.ProviderConfig {
		return &v1alpha1.ProviderConfig{ObjectMeta: metaOf(name, id)}
	}
	for reason, c := range map[string]struct {
		objects []client.Object
		want    string // the ProviderConfig that goes with the cluster
	}{
		"the cluster's":                      {[]client.Object{bootstrapOf("dev", "x", "local"), config("config", "x"), config("more", "")}, "config"},
		"no cluster, one that a user added":  {[]client.Object{config("more", "")}, ""},
		"destroyed, one that a user added":   {[]client.Object{config("more", ""), ledgerOf("x", map[string]string{completeKey: "true"})}, ""},
		"destroyed, another cluster's":       {[]client.Object{config("more", "y"), ledgerOf("x", map[string]string{completeKey: "true"})}, ""},
		"half destroyed":                     {[]client.Object{config("config", "x"), config("more", "y"), ledgerOf("x", map[string]string{})}, "config"},
		"half destroyed, the id was lost":    {[]client.Object{config("config", ""), ledgerOf("x", map[string]string{})}, "config"},
		"half destroyed, which is not known": {[]client.Object{config("config", ""), config("more", ""), ledgerOf("x", map[string]string{})}, ""},
	} {
		t.Run(reason, func(t *testing.T) {
			d, err := readTarget(t.Context(), workspace.Workspace{Name: "dev"}, indexedPlane(t, c.objects...))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if d.config != nil {
				got = d.config.Name
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestCredentialsThatAnotherProviderConfigNamesStay(t *testing.T) {
	config := func(name, secret string) *v1alpha1.ProviderConfig {
		p := &v1alpha1.ProviderConfig{ObjectMeta: metaOf(name, "")}
		p.Spec.CredentialsRef = &v1alpha1.SecretReference{Name: secret}
		return p
	}
	for other, stays := range map[string]bool{"shared": true, "else": false} {
		mine, secret := config("config", "shared"), &corev1.Secret{ObjectMeta: metaOf("shared", "")}
		plane := indexedPlane(t, config("more", other), secret)
		o := operation.New(t.Context(), workspace.Workspace{}, operation.Hooks{})
		o.Local = plane
		x := &destruction{Operation: o, target: &target{config: mine}, progress: ui.NewReporter(io.Discard, io.Discard, "plain")}
		if err := x.removeCredentials(); err != nil {
			t.Fatal(err)
		}
		if err := plane.Get(t.Context(), client.ObjectKeyFromObject(secret), secret); (err == nil) != stays {
			t.Errorf("another ProviderConfig names %s: %v", other, err)
		}
	}
}

func TestKeptIDIsNeitherErasedNorReplaced(t *testing.T) {
	for id, want := range map[string]string{"": "", "x": "", "y": "has the cluster id x, of which something may be left"} {
		config := &v1alpha1.ProviderConfig{ObjectMeta: metaOf("config", "x")}
		plane := indexedPlane(t, config)
		err := keepID(t.Context(), (&operation.Operation{Local: plane}), config, id)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("keeping %q: %v", id, err)
		}
		if err := plane.Get(t.Context(), client.ObjectKeyFromObject(config), config); err != nil || config.Annotations[v1alpha1.AnnotationClusterID] != "x" {
			t.Errorf("after %q it is %v, %v", id, config.Annotations, err)
		}
	}
}

func TestOthersOnThePlaneAreNamedWithTheirKinds(t *testing.T) {
	config := &v1alpha1.ProviderConfig{ObjectMeta: metaOf("config", "x")}
	deleting := machineOf("going", "", "config")
	deleting.Finalizers, deleting.DeletionTimestamp = []string{"example.com/hold"}, &metav1.Time{Time: metav1.Now().Time}
	objects := []client.Object{
		config, machineOf("cp-0", "x", "config"), machineOf("beside", "", "config"), machineOf("elsewhere", "", "more"), deleting,
		&v1alpha1.LoadBalancerRequest{ObjectMeta: metaOf("lb", "y"), Spec: v1alpha1.LoadBalancerRequestSpec{ProviderConfigRef: v1alpha1.ProviderReference{Name: "config"}}},
		bootstrapOf("copy", "x", "local"),
	}
	for plane, want := range map[string][]string{
		v1alpha1.PlaneLocal: {"ClusterBootstrap here/copy", "LoadBalancerRequest here/lb", "MachineRequest here/beside"},
		v1alpha1.PlaneSelf:  {"ClusterBootstrap here/copy", "LoadBalancerRequest here/lb", "MachineRequest here/beside", "MachineRequest here/elsewhere", "MachineRequest here/going"},
	} {
		d, err := readTarget(t.Context(), workspace.Workspace{Name: "dev"}, indexedPlane(t, append(slices.Clone(objects), bootstrapOf("dev", "x", plane))...))
		if err != nil || !slices.Equal(d.others, want) {
			t.Errorf("%s: got %q, %v", plane, d.others, err)
		}
		if err := d.refuseOthers("dev"); failure.KindOf(err) != failure.Usage || !strings.Contains(err.Error(), "delete that first: ClusterBootstrap here/copy, ") {
			t.Errorf("%s: %v", plane, err)
		}
	}
}
