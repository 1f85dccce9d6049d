// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pivot

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/config/crd"
	"github.com/butlerdotdev/butler/internal/plane"
)

// Each of these is found before the old controllers are ended.
func TestRefusals(t *testing.T) {
	cases := map[string]struct {
		spoil func(*fixture, *Move)
		says  string
	}{
		"another cluster on the plane": {
			func(w *fixture, _ *Move) { w.apply(local, strings.ReplaceAll(clusterBootstrap, "mgmt", "other")) },
			"this machine also has ClusterBootstrap butler-system/other; a plane moves with one cluster only",
		},
		"a request that no fence holds for": {
			func(w *fixture, _ *Move) {
				r := w.machine(9)
				r.Labels = nil
				w.must(local.Create(w.ctx, r, minter))
			},
			"MachineRequest butler-system/mgmt-cp-9 does not belong to ClusterBootstrap butler-system/mgmt",
		},
		"a conflicting request of the same name": {
			func(w *fixture, _ *Move) {
				r := w.machine(0)
				r.Annotations[v1alpha1.AnnotationClusterID] = "another"
				w.must(cluster.Create(w.ctx, r, minter))
			},
			"MachineRequest butler-system/mgmt-cp-0 on cluster mgmt does not belong to this cluster and blocks the move",
		},
		"a Secret of the same name without a manager": {
			func(w *fixture, _ *Move) {
				w.must(cluster.Create(w.ctx, w.secret(system, "mgmt-kubeconfig", false)))
			},
			"Secret butler-system/mgmt-kubeconfig on cluster mgmt does not belong to this cluster",
		},
		"ambient credentials": {
			func(w *fixture, _ *Move) {
				w.apply(local, "{apiVersion: butler.butlerlabs.dev/v1alpha1, kind: ProviderConfig, metadata: {name: aws}, spec: {provider: aws, aws: {region: eu-1, subnetIDs: [a], vpcID: v}}}")
			},
			"ProviderConfig butler-system/aws uses ambient credentials, which are never copied to a cluster; put credentials into a Secret and name it in spec.credentialsRef",
		},
		"credentials that are not there": {
			func(w *fixture, _ *Move) { w.delete(local, ref{secretKind, "elsewhere", "harvester"}) },
			"ProviderConfig butler-system/harvester-prod refers to Secret elsewhere/harvester, which does not exist",
		},
		"an owner that does not move": {
			func(w *fixture, _ *Move) {
				w.change(local, machineRef(0), func(o *unstructured.Unstructured) {
					o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "a", UID: "b"}})
				})
			},
			"MachineRequest butler-system/mgmt-cp-0 is owned by ConfigMap a, which does not move",
		},
		"a kind that the cluster does not know": {
			func(w *fixture, m *Move) { m.definitions = append(definitions(w), laterKind()) },
			"cluster mgmt does not know the kind Later; install the chart butler-crds there",
		},
		"a version that the cluster does not store": {
			func(w *fixture, m *Move) {
				m.definitions = definitions(w)
				m.definitions[0].Spec.Versions[0].Name = "v2"
			},
			"cluster mgmt does not store the kind AddressClaim as v2",
		},
		"a platform that does not admit the new controllers": {
			func(_ *fixture, m *Move) {
				m.To.(*side).admitted = func(context.Context) error { return errors.New("token expired") }
			},
			"the controllers of cluster mgmt cannot log in to the platform: token expired (not within 200ms)",
		},
		"two planes in charge": {
			func(w *fixture, _ *Move) {
				o := w.everything(local)[bootstrapRef]
				o.SetResourceVersion("")
				o.SetUID("")
				w.must(cluster.Create(w.ctx, o))
			},
			"that plane is in charge as well",
		},
		"a ProviderConfig that is on its way out": {
			func(w *fixture, _ *Move) {
				w.change(cluster, ref{providerKind, system, "harvester-prod"}, func(o *unstructured.Unstructured) { o.SetFinalizers([]string{"a/b"}) })
				w.delete(cluster, ref{providerKind, system, "harvester-prod"})
			},
			"ProviderConfig butler-system/harvester-prod is being deleted on cluster mgmt",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			m := w.move()
			c.spoil(w, m)
			before, there := essence(w.everything(local)), w.everything(cluster).versions()
			stopped := w.stops(m)
			if !strings.Contains(stopped.Error(), c.says) {
				t.Errorf("said:\n%s\nnot:\n%s", stopped, c.says)
			}
			if refused := !strings.Contains(c.says, "cannot log in"); !stopped.RolledBack || stopped.Stage != Prepare || stopped.Refused != refused {
				t.Errorf("stopped: %+v", stopped)
			}
			if diff := cmp.Diff([]string{"resume"}, w.calls); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, essence(w.everything(local))); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(there, w.everything(cluster).versions()); diff != "" {
				t.Errorf("the cluster was changed: %s", diff)
			}
		})
	}
}

func TestMoveFromAPlaneThatIsNotInCharge(t *testing.T) {
	w := newFixture(t)
	if stopped := w.stops(w.back()); stopped.RolledBack || !strings.Contains(stopped.Error(), "ClusterBootstrap butler-system/mgmt is not on cluster mgmt") {
		t.Errorf("from a plane without it: %v", stopped)
	}
	w.run(w.move())
	w.crash(w.back(), Verify)
	if stopped := w.stops(w.move()); stopped.RolledBack || !strings.Contains(stopped.Error(), "this machine is not in charge of the cluster: being moved here from cluster mgmt") {
		t.Errorf("from a plane that the cluster is moved to: %v", stopped)
	}
	if got := w.inCharge(); got != "cluster" {
		t.Errorf("in charge: %s", got)
	}
}

// An admission on the new plane that changes objects is found out.
func TestDifferenceStopsTheMove(t *testing.T) {
	w := newFixture(t)
	before := essence(w.everything(local))
	m := w.move()
	m.To.(*side).plane.Client = interceptor.NewClient(cluster, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if u, ok := o.(*unstructured.Unstructured); ok && u.GetKind() == machineKind {
				w.must(unstructured.SetNestedField(u.Object, int64(64), "spec", "cpu"))
			}
			return c.Create(ctx, o, opts...)
		},
	})
	stopped := w.stops(m)
	if !errors.Is(stopped, errDifferent) || !stopped.Refused || !strings.Contains(stopped.Error(), "MachineRequest butler-system/mgmt-cp-0 differs in spec.cpu; MachineRequest butler-system/mgmt-cp-1 differs") {
		t.Errorf("stopped: %v", stopped)
	}
	w.expectBack(before)
	w.expectHandedOver()
}

// A policy on the new plane denies with the same code as a field that cannot change.
func TestARefusalDeletesNothing(t *testing.T) {
	w := newFixture(t)
	w.deny(cluster)
	w.change(local, credentialsRef, func(o *unstructured.Unstructured) {
		o.SetLabels(map[string]string{"denied": "yes"})
	})
	kept := w.everything(cluster)[credentialsRef]
	stopped := w.stops(w.move())
	if !strings.Contains(stopped.Error(), "copy Secret elsewhere/harvester on cluster mgmt: Invalid: denied by ValidatingAdmissionPolicy 'denied'") {
		t.Errorf("stopped: %v", stopped)
	}
	if now := w.everything(cluster)[credentialsRef]; now == nil || now.GetUID() != kept.GetUID() {
		t.Error("the Secret was deleted")
	}
}

var credentialsRef = ref{secretKind, "elsewhere", "harvester"}

// deny makes a plane refuse Secrets with the label denied, until the test ends.
func (w *fixture) deny(c client.Client) {
	w.Helper()
	for _, text := range []string{
		`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: denied}, spec: {
matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [secrets], operations: [CREATE, UPDATE]}]},
validations: [{expression: "!has(object.metadata.labels) || !('denied' in object.metadata.labels)", message: "the label denied is not allowed"}]}}`,
		`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: denied}, spec: {
policyName: denied, validationActions: [Deny]}}`,
	} {
		o := &unstructured.Unstructured{}
		w.must(yaml.Unmarshal([]byte(text), &o.Object))
		w.must(c.Create(w.ctx, o))
		w.Cleanup(func() { w.must(c.Delete(context.Background(), o)) })
	}
	probe := w.secret(system, "probe", false)
	probe.Labels = map[string]string{"denied": "yes"}
	for deadline := time.Now().Add(time.Minute); c.Create(w.ctx, probe.DeepCopy(), client.DryRunAll) == nil; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.Fatal("the policy is not enforced")
		}
	}
}

func TestChangeDuringTheMoveIsCopied(t *testing.T) {
	w := newFixture(t)
	m := w.move()
	quiet := false
	m.At = func(s Stage) error {
		if s == Verify && !quiet {
			quiet = true
			w.change(local, machineRef(0), func(o *unstructured.Unstructured) {
				o.SetLabels(merged(o.GetLabels(), map[string]string{"late": "yes"}))
			})
			w.must(local.Create(w.ctx, w.machine(8), minter))
		}
		return nil
	}
	w.run(m)
	there := w.everything(cluster)
	if there[machineRef(0)].GetLabels()["late"] != "yes" || there[machineRef(8)] == nil {
		t.Error("what was written late is not on the cluster")
	}
}

func TestPlaneThatIsNeverStillDoesNotMove(t *testing.T) {
	w := newFixture(t)
	m := w.move()
	copies := 0
	m.At = func(s Stage) error {
		if s == Verify {
			copies++
			w.change(local, bootstrapRef, func(o *unstructured.Unstructured) {
				o.SetLabels(map[string]string{"copy": strings.Repeat("x", copies)})
			})
		}
		return nil
	}
	stopped := w.stops(m)
	if !errors.Is(stopped, errChanged) || copies != 3 || !stopped.RolledBack || stopped.Refused {
		t.Errorf("%d copies, stopped: %v", copies, stopped)
	}
	if got := w.inCharge(); got != "local" {
		t.Errorf("in charge: %s", got)
	}
	w.expectHandedOver()
}

// Two operators may both have begun to move a cluster, to planes of their own. The
// one that began last continues.
func TestMoveGivesWayToAnother(t *testing.T) {
	w := newFixture(t)
	m := w.move()
	m.At = func(s Stage) error {
		if s == Copy {
			j, o, err := readJournal(w.ctx, local, w.key)
			w.must(err)
			j.Move = "another"
			data, err := j.data()
			w.must(err)
			w.must(unstructured.SetNestedStringMap(o.Object, data, "data"))
			w.must(local.Update(w.ctx, o))
		}
		return nil
	}
	if stopped := w.stops(m); !errors.Is(stopped, errOtherMove) {
		t.Errorf("stopped: %v", stopped)
	}
	w.expectHandedOver()
	if diff := cmp.Diff([]string{"quiesce"}, w.calls); diff != "" {
		t.Errorf("controllers that the other move has ended: %s", diff)
	}
	if s := w.standing(local); s.Move != "another" || !s.InCharge() {
		t.Errorf("local plane: %+v", s)
	}
}

// Nothing is fenced under controllers that another process has started again.
func TestControllersThatAreAwakeAgainStopTheMove(t *testing.T) {
	w := newFixture(t)
	w.run(w.move())
	w.calls = nil
	m := w.back()
	m.From.(*side).awake = func(context.Context) (string, error) { return "butler-bootstrap", nil }
	stopped := w.stops(m)
	if !stopped.RolledBack || !strings.Contains(stopped.Error(), "another process has started butler-bootstrap of cluster mgmt again") {
		t.Errorf("stopped: %v", stopped)
	}
	if got := w.inCharge(); got != "cluster" {
		t.Errorf("in charge: %s", got)
	}
	if diff := cmp.Diff([]string{"quiesce", "resume"}, w.calls); diff != "" {
		t.Error(diff)
	}
}

// A cluster that has lost what was moved to it is not given up silently.
func TestClusterThatLostItsPlaneIsReported(t *testing.T) {
	w := newFixture(t)
	w.crash(w.move(), Switch)
	old := w.everything(cluster)[bootstrapRef]
	old.SetFinalizers(nil)
	w.must(cluster.Update(w.ctx, old))
	w.delete(cluster, bootstrapRef)
	if stopped := w.stops(w.move()); stopped.RolledBack || !strings.Contains(stopped.Error(), "so no plane is in charge; restore cluster mgmt from a backup, or continue with this machine by removing the fence there: kubectl -n butler-system annotate clusterbootstrap mgmt butler.butlerlabs.dev/fenced-") {
		t.Errorf("stopped: %v", stopped)
	}
}

func definitions(w *fixture) []*apiextensionsv1.CustomResourceDefinition {
	w.Helper()
	all, err := crd.All()
	w.must(err)
	return all
}

// laterKind is one that this project does not have yet.
func laterKind() *apiextensionsv1.CustomResourceDefinition {
	anything := apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "laters." + v1alpha1.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: v1alpha1.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "laters", Singular: "later", Kind: "Later", ListKind: "LaterList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1alpha1", Served: true, Storage: true,
				Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": anything, "status": anything}}},
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			}},
		},
	}
}

func TestLaterKindsMoveToo(t *testing.T) {
	w := newFixture(t)
	w.define(laterKind())
	m := w.move()
	m.definitions = append(definitions(w), laterKind())

	later := w.apply(local, "{apiVersion: butler.butlerlabs.dev/v1alpha1, kind: Later, metadata: {name: a}, spec: {kubeconfigSecretRef: {name: extra}, any: {thing: 1}}}")
	w.mark(later)
	w.must(local.Update(w.ctx, later))
	w.setStatus(local, later, "later", map[string]any{"ready": true})
	w.must(local.Create(w.ctx, w.secret(system, "extra", false)))
	w.run(m)

	got, err := get(w.ctx, Plane{Client: cluster}, later.GroupVersionKind(), client.ObjectKeyFromObject(later))
	w.must(err)
	if got == nil || got.Object["status"] == nil {
		t.Fatalf("on the cluster: %v", got)
	}
	if diff := cmp.Diff(later.Object["spec"], got.Object["spec"]); diff != "" {
		t.Error(diff)
	}
	if w.everything(cluster)[ref{secretKind, system, "extra"}] == nil {
		t.Error("the Secret that it refers to did not move")
	}
	if old, err := get(w.ctx, Plane{Client: local}, later.GroupVersionKind(), client.ObjectKeyFromObject(later)); err != nil || old != nil {
		t.Errorf("on the local plane: %v, %v", old, err)
	}
}

// define has both planes serve a kind until the test ends.
func (w *fixture) define(d *apiextensionsv1.CustomResourceDefinition) {
	w.Helper()
	for config, c := range map[*rest.Config]client.Client{localConfig: local, clusterConfig: cluster} {
		w.must(plane.Define(w.ctx, config, []*apiextensionsv1.CustomResourceDefinition{d}))
		w.Cleanup(func() {
			o := &unstructured.Unstructured{}
			o.SetGroupVersionKind(definitionKind)
			o.SetName(d.Name)
			w.wipe(c) // a kind of a cluster that manages itself is kept
			err := c.Delete(context.Background(), o)
			for deadline := time.Now().Add(100 * time.Second); err != nil && strings.Contains(err.Error(), "manages itself") && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
				err = c.Delete(context.Background(), o)
			}
			w.must(err)
		})
	}
}
