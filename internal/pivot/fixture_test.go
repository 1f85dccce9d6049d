// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pivot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/config/admission"
	"github.com/butlerdotdev/butler/config/crd"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
)

// The planes of all tests; each test clears them when it ends. The other one is that
// of a second operator.
var (
	local, cluster, other      client.WithWatch
	localConfig, clusterConfig *rest.Config
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	code := 1
	options := plane.Options{AdmissionOff: []string{"ServiceAccount"}}
	err := withPlane(options, func(second *plane.Plane) error {
		return withPlane(options, func(third *plane.Plane) error {
			code = planetest.Run(m, options, func(first *plane.Plane) {
				localConfig, clusterConfig = first.Config(), second.Config()
				for c, config := range map[*client.WithWatch]*rest.Config{&local: localConfig, &cluster: clusterConfig, &other: third.Config()} {
					var failed error
					if *c, failed = connect(config); failed != nil {
						panic(failed)
					}
				}
			})
			return nil
		})
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// withPlane runs a plane beside the one of the package.
func withPlane(o plane.Options, use func(*plane.Plane) error) (err error) {
	if o.Executable, err = planetest.Build(context.Background(), "github.com/butlerdotdev/butler/internal/plane/planetest/executable"); err != nil {
		return err
	}
	if o.Definitions, err = crd.All(); err != nil {
		return err
	}
	if o.Dir, err = os.MkdirTemp("", "plane"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.Dir)) }()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	p, err := plane.Start(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	return use(p)
}

func connect(config *rest.Config) (client.WithWatch, error) {
	if err := admission.Apply(context.Background(), config); err != nil {
		return nil, err
	}
	scheme := clientscheme.Scheme
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return client.NewWithWatch(config, client.Options{Scheme: scheme})
}

// fixture is a cluster on the local plane, ready to be moved onto another.
type fixture struct {
	testing.TB
	ctx       context.Context
	key       types.NamespacedName
	clusterID string
	mutex     sync.Mutex
	platform  []Item
	// calls are what the move asked of the controllers.
	calls []string
}

const (
	system   = "butler-system"
	password = "must-stay-secret"
	machines = 2
)

func newFixture(t testing.TB) *fixture {
	t.Helper()
	w := &fixture{TB: t, ctx: t.Context(), key: types.NamespacedName{Namespace: system, Name: "mgmt"}, clusterID: uuid.NewString()}
	t.Cleanup(func() {
		for _, c := range []client.Client{local, cluster, other} {
			w.wipe(c)
		}
	})
	for _, name := range []string{system, "elsewhere"} {
		w.ensureNamespace(local, name)
	}
	w.makeCluster()
	w.handOver()
	return w
}

func (w *fixture) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *fixture) ensureNamespace(c client.Client, name string) {
	w.Helper()
	w.must(client.IgnoreAlreadyExists(c.Create(w.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})))
}

func (w *fixture) apply(c client.Client, text string) *unstructured.Unstructured {
	w.Helper()
	o := &unstructured.Unstructured{}
	w.must(yaml.Unmarshal([]byte(text), &o.Object))
	o.SetNamespace(system)
	if o.GetKind() == butlerKind {
		o.SetNamespace("")
	}
	data, err := o.MarshalJSON()
	w.must(err)
	w.must(c.Patch(w.ctx, o, client.RawPatch(types.ApplyPatchType, data), client.FieldOwner("butleradm"), client.ForceOwnership))
	return o
}

const providerConfig = `
apiVersion: butler.butlerlabs.dev/v1alpha1
kind: ProviderConfig
metadata: {name: harvester-prod, labels: {team: platform}}
spec:
  provider: harvester
  credentialsRef: {name: harvester, namespace: elsewhere}
  harvester: {namespace: default, networkName: default/workloads}
`

const clusterBootstrap = `
apiVersion: butler.butlerlabs.dev/v1alpha1
kind: ClusterBootstrap
metadata:
  name: mgmt
  annotations: {note: travels}
spec:
  provider: harvester
  providerRef: {name: harvester-prod}
  cluster:
    name: mgmt
    topology: ha
    controlPlane: {replicas: 3, cpu: 4, memoryMB: 16384, diskGB: 100}
  network: {podCIDR: 10.244.0.0/16, serviceCIDR: 10.96.0.0/12, vip: 10.40.0.200}
  talos: {version: v1.9.2, schematic: ce4c9805}
  addons:
    capi:
      infrastructureProviders:
        - name: aws
          credentialsSecretRef: {name: aws}
`

func (w *fixture) makeCluster() {
	w.Helper()
	w.must(local.Create(w.ctx, w.secret("elsewhere", "harvester", false)))
	w.must(local.Create(w.ctx, w.secret(system, "aws", false)))
	config := w.apply(local, providerConfig)
	config.SetFinalizers([]string{v1alpha1.FinalizerProviderConfig})
	w.must(local.Update(w.ctx, config, client.FieldOwner("butler-provider-harvester")))
	w.setStatus(local, config, "butler-provider-harvester", map[string]any{"validated": true, "providerVersion": "v1.4"})

	cb := w.apply(local, clusterBootstrap)
	cb.SetFinalizers([]string{v1alpha1.FinalizerClusterBootstrap})
	cb.SetAnnotations(map[string]string{"note": "travels", v1alpha1.AnnotationClusterID: w.clusterID, v1alpha1.AnnotationPlane: v1alpha1.PlaneLocal})
	w.must(local.Update(w.ctx, cb, client.FieldOwner("butler-bootstrap")))
	cb.Object["spec"].(map[string]any)["remediation"] = "ReplaceWorkers" // a second generation
	w.must(local.Update(w.ctx, cb, client.FieldOwner("other-client")))
	w.setStatus(local, cb, "butler-bootstrap", map[string]any{
		"phase": "Pivoting", "observedGeneration": cb.GetGeneration(), "controlPlaneEndpoint": "10.40.0.200", "kubeconfig": password,
		"machines": []any{map[string]any{"name": "mgmt-cp-0", "role": "control-plane", "phase": "Running", "talosConfigured": true}},
		"conditions": []any{
			w.condition("Ready", cb.GetGeneration()), w.condition("AddonsReady", cb.GetGeneration()-1),
		},
	})
	for _, suffix := range []string{"talos-secrets", "talosconfig", "kubeconfig"} {
		w.must(local.Create(w.ctx, w.secret(system, "mgmt-"+suffix, true), client.FieldOwner("butler-bootstrap")))
	}
	for i := range machines {
		w.must(w.makeMachine(i))
	}
}

func (w *fixture) condition(name string, generation int64) any {
	return map[string]any{
		"type": name, "status": "True", "reason": "Fine", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": generation,
	}
}

func (w *fixture) mark(o client.Object) {
	o.SetLabels(map[string]string{v1alpha1.LabelCluster: "mgmt", v1alpha1.LabelClusterBootstrap: "mgmt"})
	o.SetAnnotations(map[string]string{v1alpha1.AnnotationClusterID: w.clusterID, v1alpha1.AnnotationOwnerID: uuid.NewString()})
}

func (w *fixture) secret(namespace, name string, own bool) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string][]byte{"key": []byte(password)}}
	if own {
		w.mark(s)
	}
	if name == "mgmt-talos-secrets" {
		s.Immutable = new(true)
	}
	return s
}

func (w *fixture) machine(i int) *v1alpha1.MachineRequest {
	name := fmt.Sprintf("mgmt-cp-%d", i)
	r := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: name}, Spec: v1alpha1.MachineRequestSpec{
		ProviderRef: v1alpha1.ProviderReference{Name: "harvester-prod"}, MachineName: name, Role: v1alpha1.RoleControlPlane,
		CPU: 4, MemoryMB: 16384, DiskGB: 100,
	}}
	w.mark(r)
	r.Finalizers = []string{v1alpha1.FinalizerMachineRequest(v1alpha1.ProviderHarvester)}
	return r
}

// minter is who may create requests with an owner id.
const minter = client.FieldOwner("butler-bootstrap")

func (w *fixture) makeMachine(i int) error {
	r := w.machine(i)
	if err := local.Create(w.ctx, r, minter); err != nil {
		return err
	}
	r.Annotations[v1alpha1.AnnotationClaimedBy] = string(r.UID)
	if err := local.Update(w.ctx, r, client.FieldOwner("butler-provider-harvester")); err != nil {
		return err
	}
	r.Status = v1alpha1.MachineRequestStatus{
		Phase: v1alpha1.MachineRunning, ProviderID: "harvester://default/" + r.Name, IPAddress: fmt.Sprintf("10.40.%d.%d", i/250, 1+i%250), ObservedGeneration: 1,
	}
	w.mutex.Lock()
	w.platform = append(w.platform, Item{Kind: "machine", Name: r.Name, ID: "vm-" + r.Name, Addresses: []string{r.Status.IPAddress}})
	w.mutex.Unlock()
	return local.Status().Update(w.ctx, r, client.FieldOwner("butler-provider-harvester"))
}

func (w *fixture) setStatus(c client.Client, o *unstructured.Unstructured, owner string, status map[string]any) {
	w.Helper()
	o.Object["status"] = status
	w.must(c.Status().Update(w.ctx, o, client.FieldOwner(owner)))
}

// handOver is what lies on the new cluster before its plane moves there, and what
// its own controllers have made of it.
func (w *fixture) handOver() {
	w.Helper()
	for _, name := range []string{system, "elsewhere"} {
		w.ensureNamespace(cluster, name)
	}
	w.must(cluster.Create(w.ctx, w.secret("elsewhere", "harvester", false), client.FieldOwner("butler-bootstrap")))
	config := w.apply(cluster, providerConfig)
	config.SetAnnotations(map[string]string{"own": "of the cluster"})
	w.must(cluster.Update(w.ctx, config, client.FieldOwner("other-client")))
	w.setStatus(cluster, config, "butler-provider-harvester", map[string]any{"validated": true, "providerVersion": "v1.5"})
	w.apply(cluster, "{apiVersion: butler.butlerlabs.dev/v1alpha1, kind: ButlerConfig, metadata: {name: butler}, spec: {}}")
}

// move is one from the local plane onto the cluster.
func (w *fixture) move() *Move {
	m := &Move{
		Bootstrap: w.key, Scope: Everything,
		From: w.side(Plane{Name: "this machine", Kind: v1alpha1.PlaneLocal, Client: local}),
		To:   w.side(Plane{Name: "cluster mgmt", Kind: v1alpha1.PlaneSelf, Client: cluster}),
	}
	return w.equip(m)
}

// back is the move from the cluster to the local plane.
func (w *fixture) back() *Move {
	return w.equip(&Move{
		Bootstrap: w.key, Scope: Cluster,
		From: w.side(Plane{Name: "cluster mgmt", Kind: v1alpha1.PlaneSelf, Client: cluster}),
		To:   w.side(Plane{Name: "this machine", Kind: v1alpha1.PlaneLocal, Client: local}),
	})
}

// side is a plane without controllers. It records what they are asked.
type side struct {
	plane                     Plane
	quiesce, resume, admitted func(context.Context) error
	awake                     func(context.Context) (string, error)
}

func (w *fixture) side(p Plane) *side {
	note := func(call string) func(context.Context) error {
		return func(context.Context) error {
			w.calls = append(w.calls, call)
			return nil
		}
	}
	return &side{
		plane: p, quiesce: note("quiesce"), resume: note("resume"),
		admitted: func(context.Context) error { return nil },
		awake:    func(context.Context) (string, error) { return "", nil },
	}
}

func (s *side) Plane() Plane                                          { return s.plane }
func (s *side) Quiesce(ctx context.Context) error                     { return s.quiesce(ctx) }
func (s *side) Resume(ctx context.Context) error                      { return s.resume(ctx) }
func (s *side) CheckLogin(ctx context.Context) error                  { return s.admitted(ctx) }
func (s *side) RunningController(ctx context.Context) (string, error) { return s.awake(ctx) }

func (w *fixture) equip(m *Move) *Move {
	m.Inventory = func(context.Context) ([]Item, error) { return w.platform, nil }
	m.AnswerWithin, m.LoginWithin = 200*time.Millisecond, 200*time.Millisecond
	return m
}

// run must succeed.
func (w *fixture) run(m *Move) *Report {
	w.Helper()
	report, err := m.Run(w.ctx)
	if err != nil {
		w.Fatal(err)
	}
	return report
}

// stops must not.
func (w *fixture) stops(m *Move) *Stopped {
	w.Helper()
	_, err := m.Run(w.ctx)
	stopped, ok := errors.AsType[*Stopped](err)
	if !ok {
		w.Fatalf("the move did not stop: %v", err)
	}
	if strings.Contains(err.Error(), password) {
		w.Errorf("the error reveals a secret: %v", err)
	}
	return stopped
}

func (w *fixture) standing(c client.Client) Standing {
	w.Helper()
	s, err := Read(w.ctx, c, w.key)
	w.must(err)
	return s
}

// inCharge says which of the planes is.
func (w *fixture) inCharge() string {
	w.Helper()
	here, there := w.standing(local), w.standing(cluster)
	switch {
	case here.InCharge() && there.InCharge():
		return "both"
	case here.InCharge():
		return "local"
	case there.InCharge():
		return "cluster"
	}
	return "none"
}

// everything is what a plane holds of this project, and its Secrets.
func (w *fixture) everything(c client.Client) set {
	w.Helper()
	out := set{}
	all, err := kinds(nil)
	w.must(err)
	for _, k := range append(all, kind{core(secretKind), ""}) {
		items, err := list(w.ctx, Plane{Client: c}, k.GroupVersionKind)
		w.must(err)
		for _, o := range items {
			out.add(o)
		}
	}
	return out
}

// wipe clears a plane.
func (w *fixture) wipe(c client.Client) {
	w.ctx = context.Background() // that of the test has ended
	group, ctx := errgroup.WithContext(w.ctx)
	group.SetLimit(maxConcurrent)
	for _, o := range w.everything(c) {
		group.Go(func() error {
			if len(o.GetFinalizers()) > 0 {
				o.SetFinalizers(nil)
				if err := client.IgnoreNotFound(c.Update(ctx, o)); err != nil {
					return err
				}
			}
			return client.IgnoreNotFound(c.Delete(ctx, o))
		})
	}
	w.must(group.Wait())
	journal := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.key.Namespace, Name: JournalName(w.key.Name)}}
	w.must(client.IgnoreNotFound(c.Delete(w.ctx, journal)))
}

// change edits an object as kubectl would.
func (w *fixture) change(c client.Client, key ref, edit func(*unstructured.Unstructured)) {
	w.Helper()
	o := w.everything(c)[key]
	if o == nil {
		w.Fatalf("no %s among %v", key, slices.Collect(maps.Keys(w.everything(c))))
	}
	edit(o)
	w.must(c.Update(w.ctx, o, client.FieldOwner("other-client")))
}

func (w *fixture) delete(c client.Client, key ref) {
	w.Helper()
	o := w.everything(c)[key]
	if o == nil {
		w.Fatalf("no %s", key)
	}
	w.must(c.Delete(w.ctx, o))
}

func machineRef(i int) ref { return ref{machineKind, system, fmt.Sprintf("mgmt-cp-%d", i)} }
