// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/harvester"
	harvesterv1beta1 "github.com/butlerdotdev/butler/internal/sim/harvester/harvesterhci/v1beta1"
)

const plan = `
faults:
- {kind: throttle, machine: throttled, verb: get, times: 2, retryAfter: 1s}
- {kind: deny, machine: denied, verb: create, resource: machine, times: 1}
- {kind: deny, machine: denied-disk, resource: disk, times: 1}
- {kind: tokenExpiry, times: 1}
- {kind: lostResponse, machine: lost, verb: create, resource: machine, times: 1}
- {kind: slowList, resource: image, delay: 1h, times: 1}
- {kind: failedTask, machine: stays, verb: delete, times: 1}
- {kind: noCapacity, machine: crowded, for: 6s}
- {kind: conflictingMachine, machine: taken, for: 6s}
- {kind: conflictingMachine, machine: taken-for-good}
- {kind: conflictingMachine, machine: taken-later, after: 1s}
- {kind: clone, machine: source}
`

// TestFaults shares one platform: each fault has its machine.
func TestFaults(t *testing.T) {
	parsed, err := fault.Parse([]byte(plan))
	if err != nil {
		t.Fatal(err)
	}
	w := &fixture{dir: t.TempDir(), injector: fault.NewInjector(parsed)}
	w.auditor, err = audit.Open(audit.Options{Dir: w.dir, Desired: []audit.Desired{{Cluster: "audited", Machines: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.start(harvester.Options{Create: 300 * time.Millisecond, Faults: w.injector, Auditor: w.auditor, Seed: harvester.Seed{Hosts: []string{"harvester.example.com"}}}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.stop(); err != nil {
			t.Error(err)
		}
	}()
	for _, test := range []struct {
		name string
		run  func(*testing.T, *fixture)
	}{
		{"token expiry", tokenExpiry}, // the first call of all
		{"no capacity", noCapacity},   // at once: it passes
		{"conflicting VM", conflictingVMGoes},
		{"clone", cloneCarriesAllLabels},
		{"create takes time", createTakesTime},
		{"throttle", throttle},
		{"deny", deny},
		{"lost response", lostResponse},
		{"slow list", slowList},
		{"failed delete", failedDelete},
		{"rights stay", rightsStay},
		{"token", token},
		{"impersonation", impersonation},
		{"watch", watchStreams},
		{"administrator", administratorIsFree},
		{"audit", auditOfUse},
		{"stale reads", staleReads},
		{"another plan", plansChange},
		{"drain", drained},
		{"second platform", secondPlatform},
		{"hang", hangs},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, w) })
	}
}

func conflictingVMGoes(t *testing.T, w *fixture) {
	err := w.limited.Create(t.Context(), machine("taken-for-good", "x"))
	if !apierrors.IsAlreadyExists(err) {
		t.Errorf("the name is free: %v", err)
	}
	vm := &kubevirtv1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "taken-for-good"}}
	if err := w.limited.Get(t.Context(), client.ObjectKeyFromObject(vm), vm); err != nil || len(vm.Labels) != 0 {
		t.Errorf("labels %v, %v", vm.Labels, err)
	}
	vm.Name = "taken-later"
	eventually(t, "the conflicting VM that comes later", func() error { return w.limited.Get(t.Context(), client.ObjectKeyFromObject(vm), vm) })
	gone(t, w.limited, &kubevirtv1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "taken"}})
	create(t, w.limited, machine("taken", "x"))
}

func cloneCarriesAllLabels(t *testing.T, w *fixture) {
	vm, disk := machine("source", "source"), rootClaim("source")
	labels := map[string]string{audit.TagOwnerID: "owner-of-source", audit.TagClusterID: "c", audit.TagCluster: "cloned"}
	vm.Labels, disk.Labels = labels, labels
	create(t, w.limited, disk, vm)
	clone := &kubevirtv1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "source-clone"}}
	eventually(t, "the clone", func() error { return w.limited.Get(t.Context(), client.ObjectKeyFromObject(clone), clone) })
	if strategy, err := clone.RunStrategy(); err != nil || strategy != kubevirtv1.RunStrategyHalted || clone.Labels[audit.TagOwnerID] != "owner-of-source" {
		t.Errorf("the clone is %s with %v, %v", strategy, clone.Labels, err)
	}
	copied := &corev1.PersistentVolumeClaim{}
	for _, v := range clone.Spec.Template.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		key := client.ObjectKey{Namespace: "default", Name: v.PersistentVolumeClaim.ClaimName}
		if err := w.limited.Get(t.Context(), key, copied); err != nil || copied.Name == disk.Name || copied.Labels[audit.TagOwnerID] != "owner-of-source" {
			t.Errorf("the disk of the clone is %s with %v, %v", copied.Name, copied.Labels, err)
		}
	}
	if copied.Name == "" {
		t.Error("the clone has no disk")
	}
	if found, err := audit.Violations(w.dir); err != nil || len(found) > 0 {
		t.Errorf("the clone is taken for a violation: %v, %v", found, err)
	}
	for _, o := range []client.Object{vm, disk} {
		if err := w.limited.Delete(t.Context(), o); err != nil {
			t.Error(err)
		}
		gone(t, w.limited, o)
	}
	eventually(t, "an audit without an owner of the copies", func() error {
		if left := w.auditor.Left(); len(left) > 0 {
			return fmt.Errorf("left: %v", left)
		}
		return nil
	})
}

func tokenExpiry(t *testing.T, w *fixture) {
	list := func() error { return w.limited.List(t.Context(), &kubevirtv1.VirtualMachineList{}) }
	if err := list(); !apierrors.IsUnauthorized(err) {
		t.Errorf("the credentials are good: %v", err)
	}
	if err := list(); err != nil {
		t.Errorf("the credentials stay bad: %v", err)
	}
}

func noCapacity(t *testing.T, w *fixture) {
	create(t, w.limited, rootClaim("crowded"), machine("crowded", "crowded"))
	create(t, w.limited, rootClaim("elsewhere"), machine("elsewhere", "elsewhere"))
	instance(t, w.limited, "crowded", waitsFor(corev1.PodReasonUnschedulable))
	instance(t, w.limited, "elsewhere", isRunning)
	instance(t, w.limited, "crowded", isRunning)
}

func createTakesTime(t *testing.T, w *fixture) {
	impatient, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := w.limited.Create(impatient, machine("hasty", "x")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the platform answered at once: %v", err)
	}
}

func throttle(t *testing.T, w *fixture) {
	config, err := clientcmd.BuildConfigFromFlags("", w.harvester.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	var seen []int
	for range 3 {
		// One try each: a client would wait and try again by itself.
		result := rawClient(t, config).Get().AbsPath("/apis/kubevirt.io/v1/namespaces/default/virtualmachines/throttled").MaxRetries(0).Do(t.Context())
		var code int
		result.StatusCode(&code)
		seen = append(seen, code)
		var status apierrors.APIStatus
		if err := result.Error(); code == 429 && (!errors.As(err, &status) || status.Status().Details.RetryAfterSeconds != 1) {
			t.Errorf("throttled with %v", err)
		}
	}
	if fmt.Sprint(seen) != "[429 429 404]" {
		t.Errorf("answers %v", seen)
	}
}

func rawClient(t *testing.T, config *rest.Config) rest.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c.RESTClient()
}

func deny(t *testing.T, w *fixture) {
	// A disk comes in another encoding than a machine.
	for _, o := range []client.Object{rootClaim("denied-disk"), machine("denied", "x")} {
		if err := w.limited.Create(t.Context(), o); !apierrors.IsForbidden(err) {
			t.Errorf("%T was not denied: %v", o, err)
		}
		if err := w.admin.Get(t.Context(), client.ObjectKeyFromObject(o), o); !apierrors.IsNotFound(err) {
			t.Errorf("%T was denied and is there: %v", o, err)
		}
	}
	create(t, w.limited, rootClaim("denied-disk"), machine("denied", "x"))
}

func lostResponse(t *testing.T, w *fixture) {
	err := w.limited.Create(t.Context(), machine("lost", "x"))
	var status apierrors.APIStatus
	if err == nil || errors.As(err, &status) {
		t.Errorf("there was an answer: %v", err)
	}
	if err := w.limited.Create(t.Context(), machine("lost", "x")); !apierrors.IsAlreadyExists(err) {
		t.Errorf("the first had no effect: %v", err)
	}
}

func slowList(t *testing.T, w *fixture) {
	impatient, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if err := w.limited.List(impatient, &harvesterv1beta1.VirtualMachineImageList{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the list was fast: %v", err)
	}
	if err := w.limited.List(t.Context(), &harvesterv1beta1.VirtualMachineImageList{}); err != nil {
		t.Error(err)
	}
}

func failedDelete(t *testing.T, w *fixture) {
	vm := machine("stays", "x")
	create(t, w.limited, vm)
	if err := w.limited.Delete(t.Context(), vm); err != nil {
		t.Fatalf("the first deletion was not accepted: %v", err)
	}
	if err := w.admin.Get(t.Context(), client.ObjectKeyFromObject(vm), vm); err != nil || !vm.DeletionTimestamp.IsZero() {
		t.Errorf("it had an effect: %v, %v", vm.DeletionTimestamp, err)
	}
	if err := w.limited.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	gone(t, w.limited, vm)
}

// rightsStay: the front is the administrator to the API server, its callers are not.
func rightsStay(t *testing.T, w *fixture) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "forbidden"}}
	if err := w.limited.Create(t.Context(), node); !apierrors.IsForbidden(err) {
		t.Errorf("the limited user may do anything: %v", err)
	}
	if err := w.limited.List(t.Context(), &corev1.SecretList{}); !apierrors.IsForbidden(err) {
		t.Errorf("the limited user reads secrets: %v", err)
	}
	config := limitedConfig(t, w)
	config.CertData, config.KeyData = nil, nil
	if err := rawClient(t, config).Get().AbsPath("/api/v1/nodes").Do(t.Context()).Error(); !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) {
		t.Errorf("a caller without credentials is not refused: %v", err)
	}
	other, err := clientcmd.BuildConfigFromFlags("", shared.harvester.AdminKubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	config.CertData, config.KeyData = other.CertData, other.KeyData
	if err := rawClient(t, config).Get().AbsPath("/api/v1/nodes").Do(t.Context()).Error(); err == nil {
		t.Error("the certificate of another authority counts")
	}
}

// token: its holder is the user it names.
func token(t *testing.T, w *fixture) {
	admin, err := clientcmd.BuildConfigFromFlags("", w.harvester.AdminKubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "robot"}}
	create(t, w.admin, account, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "robot"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: harvester.DocumentedRole},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: "robot"}},
	})
	issued, err := kubernetes.NewForConfigOrDie(admin).CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "robot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config := limitedConfig(t, w)
	config.CertData, config.KeyData, config.BearerToken = nil, nil, issued.Status.Token
	robot := rawClient(t, config)
	eventually(t, "the robot's right", func() error {
		return robot.Get().AbsPath("/apis/kubevirt.io/v1/virtualmachines").Do(t.Context()).Error()
	})
	if err := robot.Get().AbsPath("/api/v1/nodes").Do(t.Context()).Error(); !apierrors.IsForbidden(err) {
		t.Errorf("the robot may do anything: %v", err)
	}
}

func impersonation(t *testing.T, w *fixture) {
	config := limitedConfig(t, w)
	config.Impersonate = rest.ImpersonationConfig{UserName: "admin", Groups: []string{"system:masters"}}
	if err := rawClient(t, config).Get().AbsPath("/api/v1/nodes").Do(t.Context()).Error(); !apierrors.IsForbidden(err) {
		t.Errorf("the limited user became the administrator: %v", err)
	}
}

func watchStreams(t *testing.T, w *fixture) {
	machines, err := w.limited.Watch(t.Context(), &kubevirtv1.VirtualMachineList{}, client.InNamespace("default"), client.MatchingFields{"metadata.name": "watched"})
	if err != nil {
		t.Fatal(err)
	}
	defer machines.Stop()
	create(t, w.limited, machine("watched", "x"))
	expectEvent(t, machines, "watched")
}

func expectEvent(t *testing.T, w watch.Interface, machine string) {
	t.Helper()
	select {
	case event := <-w.ResultChan():
		if vm, ok := event.Object.(*kubevirtv1.VirtualMachine); !ok || vm.Name != machine {
			t.Errorf("the watch reports %+v", event)
		}
	case <-time.After(15 * time.Second):
		t.Error("the watch is mute")
	}
}

func administratorIsFree(t *testing.T, w *fixture) {
	config, err := clientcmd.BuildConfigFromFlags("", w.harvester.AdminKubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if config.Host == limitedConfig(t, w).Host {
		t.Error("the administrator meets the faults too")
	}
	for _, at := range []string{w.harvester.Address(), "harvester.example.com:6443"} {
		conn, err := w.network.Dial(t.Context(), "tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
	}
}

func limitedConfig(t *testing.T, w *fixture) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", w.harvester.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	return config
}
