// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rehearsals

package cli_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
)

// TestAClusterOfTheUserIsThePlane has two clusters on one plane. The first is killed on its
// way, continues, manages itself, and is destroyed; the second does not notice.
func TestAClusterOfTheUserIsThePlane(t *testing.T) {
	a := newAdm(t)
	user := planetest.Start(t, plane.Options{
		AdmissionOff: []string{"ServiceAccount"}, Definitions: []*apiextensionsv1.CustomResourceDefinition{},
		Controllers: []string{"garbage-collector-controller", "namespace-controller"},
	})
	api := a.planeClient(filepath.Dir(user.KubeconfigPath()))
	note := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "butler-system", Name: "of-the-user"}}
	if err := errors.Join(
		api.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "butler-system"}}), api.Create(t.Context(), note),
	); err != nil {
		t.Fatal(err)
	}
	ha := []string{"bootstrap", "harvester", "-c", exampleHA, "--rehearse"}
	first := a.killAmongAddons(time.Second, append(ha, "--plane", user.KubeconfigPath())...)
	if !strings.Contains(oneLine(first.err), "plane: namespace butler-system of "+user.Config().Host+"; controllers run in this command") {
		t.Errorf("it says\n%s", first.err)
	}
	a.run(append(ha, "--plane", "embedded")...).expect(t, 2, "the plane of butler-mgmt is namespace butler-system of "+user.Config().Host+", and a cluster keeps its plane")
	a.ok(ha...)
	expectSixNodes(t, a)
	expectMovedFrom(t, a, api)

	dev := file(t, "dev.yaml", edited(t, example, "namespace: butler-system", "namespace: second"))
	a.ok("bootstrap", "harvester", "-c", dev, "--rehearse", "--plane", user.KubeconfigPath())
	if out := oneLine(a.ok("status", "dev-cluster").out); !strings.Contains(out, "plane: namespace second of "+user.Config().Host) {
		t.Errorf("status:\n%s", out)
	}
	machine := a.expectOneMachine()

	r := a.ok("destroy", "butler-mgmt", "--yes")
	if !strings.Contains(r.out, "left 0") {
		t.Errorf("destroyed with\n%s", r.out)
	}
	a.expectNothingOnThePlatform("butler-mgmt")
	a.ok("forget", "butler-mgmt", "--yes")
	expectLeft(t, api, note)
	a.expectOneNode("v1.32.0")
	if again := a.expectOneMachine(); again != machine {
		t.Errorf("machine %s became %s", machine, again)
	}
	a.ok("destroy", "dev-cluster", "--yes")
	a.ok("forget", "dev-cluster", "--yes")
}

// expectMovedFrom looks at the plane of the user after a pivot.
func expectMovedFrom(t *testing.T, a adm, api client.Client) {
	t.Helper()
	here, there, key := &v1alpha1.ClusterBootstrap{}, &v1alpha1.ClusterBootstrap{}, client.ObjectKey{Namespace: system, Name: "butler-mgmt"}
	if err := errors.Join(api.Get(t.Context(), key, here), a.within("butler-mgmt").Get(t.Context(), key, there)); err != nil {
		t.Fatal(err)
	}
	if !v1alpha1.Fenced(here) || v1alpha1.Fenced(there) {
		t.Errorf("the plane has %v, the cluster %v", here.Annotations, there.Annotations)
	}
	var requests v1alpha1.MachineRequestList
	if err := api.List(t.Context(), &requests); err != nil || len(requests.Items) > 0 {
		t.Errorf("%d requests are left on the plane: %v", len(requests.Items), err)
	}
}

// expectLeft looks at a namespace that was given free: what the user had there is left, and
// nothing else.
func expectLeft(t *testing.T, api client.Client, note *corev1.ConfigMap) {
	t.Helper()
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(note), note); err != nil {
		t.Errorf("what the user had: %v", err)
	}
	for _, list := range []client.ObjectList{
		&v1alpha1.ClusterBootstrapList{}, &v1alpha1.ProviderConfigList{}, &v1alpha1.MachineRequestList{}, &corev1.SecretList{},
	} {
		if err := api.List(t.Context(), list, client.InNamespace(system)); err != nil {
			t.Fatal(err)
		}
		if left := namesIn(t, list); left != "" {
			t.Errorf("%T: %s is left", list, left)
		}
	}
	var maps corev1.ConfigMapList
	if err := api.List(t.Context(), &maps, client.InNamespace(system)); err != nil || len(maps.Items) != 1 {
		t.Errorf("%s is left: %v", namesIn(t, &maps), err)
	}
	var kept v1alpha1.ClusterBootstrapList
	if err := api.List(t.Context(), &kept, client.InNamespace("second")); err != nil || len(kept.Items) != 1 {
		t.Errorf("the other cluster: %s, %v", namesIn(t, &kept), err)
	}
}

// namesIn are the names of the objects of a list.
func namesIn(t *testing.T, list client.ObjectList) string {
	t.Helper()
	var names []string
	err := meta.EachListItem(list, func(o runtime.Object) error {
		names = append(names, o.(client.Object).GetName())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, ", ")
}
