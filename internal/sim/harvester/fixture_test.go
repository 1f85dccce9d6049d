// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	kubevirtv1 "kubevirt.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/harvester"
	harvesterv1beta1 "github.com/butlerdotdev/butler/internal/sim/harvester/harvesterhci/v1beta1"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

// fixture is a simulated Harvester with its datacenter.
type fixture struct {
	dir        string
	executable string
	network    *network.Network
	datacenter *datacenter.Datacenter
	harvester  *harvester.Harvester
	admin      client.WithWatch
	limited    client.WithWatch
	injector   *fault.Injector
	auditor    *audit.Auditor

	mu    sync.Mutex
	specs map[string]datacenter.Spec // the last boot, by name
	boots map[string]int
	kills map[string]context.CancelCauseFunc
}

var shared *fixture // one per package, set by TestMain alone

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "harvester")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	ctrl.SetLogger(logr.Discard())
	shared = &fixture{dir: dir}
	if err := shared.start(harvester.Options{Seed: harvester.Seed{
		Namespaces: []string{"team"}, Images: []string{"team/custom"}, Networks: []string{"team/vlan-77"},
		StorageClasses: []string{"fast"}, Hosts: []string{"harvester.example.com:6443"},
	}}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer shared.stop()
	return m.Run()
}

func (w *fixture) start(o harvester.Options) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	var err error
	w.specs, w.boots, w.kills = map[string]datacenter.Spec{}, map[string]int{}, map[string]context.CancelCauseFunc{}
	if w.executable, err = planetest.Build(ctx, "github.com/butlerdotdev/butler/internal/plane/planetest/executable"); err != nil {
		return err
	}
	w.network = network.New()
	w.datacenter, err = datacenter.New(datacenter.Options{
		Dir: filepath.Join(w.dir, "datacenter"), Network: w.network, Boot: w.boot,
		Subnets: map[string]datacenter.Subnet{"default/vlan40-workloads": {Prefix: netip.MustParsePrefix("10.40.0.0/16")}},
	})
	if err != nil {
		return err
	}
	o.Dir, o.Executable, o.Datacenter, o.Network = filepath.Join(w.dir, "harvester"), w.executable, w.datacenter, w.network
	if w.harvester, err = harvester.Start(ctx, o); err != nil {
		return err
	}
	if w.admin, err = clientFrom(w.harvester.AdminKubeconfig()); err != nil {
		return err
	}
	w.limited, err = clientFrom(w.harvester.Kubeconfig())
	return err
}

func (w *fixture) stop() error {
	err := w.harvester.Stop()
	w.datacenter.Close()
	return err
}

// boot notes what it got and lives until it is switched off or killed.
func (w *fixture) boot(ctx context.Context, m datacenter.Machine) error {
	life, kill := context.WithCancelCause(ctx)
	defer kill(nil)
	w.mu.Lock()
	w.specs[m.Name], w.kills[m.Name] = m.Spec, kill
	w.boots[m.Name]++
	w.mu.Unlock()
	if strings.HasPrefix(m.Name, "stillborn") {
		return errors.New("no system")
	}
	<-life.Done()
	return context.Cause(life)
}

func (w *fixture) booted(name string) (datacenter.Spec, int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.specs[name], w.boots[name]
}

func (w *fixture) kill(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kills[name](nil)
}

// shutDown has the guest of a machine switch it off.
func (w *fixture) shutDown(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kills[name](datacenter.ErrShutdown)
}

func clientFrom(kubeconfig string) (client.WithWatch, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), kubevirtv1.AddToScheme(scheme), harvesterv1beta1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	return client.NewWithWatch(config, client.Options{Scheme: scheme})
}

// eventually asks until check is satisfied, and shows its last complaint otherwise.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	deadline := time.Now().Add(15 * time.Second)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// never gives something wrong the time to happen.
func never(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if happened() {
			t.Fatal(what)
		}
	}
}

func gone(t *testing.T, c client.Client, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		eventually(t, fmt.Sprintf("%T %s is gone", o, o.GetName()), func() error {
			err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o)
			if apierrors.IsNotFound(err) {
				return nil
			}
			return errors.Join(errors.New("still there"), err)
		})
	}
}

func claim(name, class, image string) *corev1.PersistentVolumeClaim {
	block := corev1.PersistentVolumeBlock
	pvc := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}, VolumeMode: &block, StorageClassName: &class,
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("20Gi")}},
		},
	}
	if image != "" {
		pvc.Annotations = map[string]string{"harvesterhci.io/imageId": image}
	}
	return pvc
}

func rootClaim(name string) *corev1.PersistentVolumeClaim {
	return claim(name, "longhorn-image-5rs6d", "default/image-5rs6d")
}

// machine is a VirtualMachine with one disk, one VLAN interface and user data.
func machine(name, pvc string) *kubevirtv1.VirtualMachine {
	always, memory := kubevirtv1.RunStrategyAlways, resource.MustParse("4Gi")
	disk := func(name string) kubevirtv1.Disk {
		return kubevirtv1.Disk{Name: name, DiskDevice: kubevirtv1.DiskDevice{Disk: &kubevirtv1.DiskTarget{Bus: kubevirtv1.DiskBusVirtio}}}
	}
	return &kubevirtv1.VirtualMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: kubevirtv1.VirtualMachineSpec{
			RunStrategy: &always,
			Template: &kubevirtv1.VirtualMachineInstanceTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"harvesterhci.io/vmName": name}},
				Spec: kubevirtv1.VirtualMachineInstanceSpec{
					Domain: kubevirtv1.DomainSpec{
						CPU: &kubevirtv1.CPU{Cores: 2}, Memory: &kubevirtv1.Memory{Guest: &memory},
						Devices: kubevirtv1.Devices{
							Disks: []kubevirtv1.Disk{disk("root"), disk("cloudinit")},
							Interfaces: []kubevirtv1.Interface{{Name: "nic-0", Model: "virtio", InterfaceBindingMethod: kubevirtv1.InterfaceBindingMethod{
								Bridge: &kubevirtv1.InterfaceBridge{},
							}}},
						},
					},
					Networks: []kubevirtv1.Network{{Name: "nic-0", NetworkSource: kubevirtv1.NetworkSource{
						Multus: &kubevirtv1.MultusNetwork{NetworkName: "default/vlan40-workloads"},
					}}},
					Volumes: []kubevirtv1.Volume{
						{Name: "root", VolumeSource: kubevirtv1.VolumeSource{PersistentVolumeClaim: &kubevirtv1.PersistentVolumeClaimVolumeSource{
							PersistentVolumeClaimVolumeSource: corev1.PersistentVolumeClaimVolumeSource{ClaimName: pvc},
						}}},
						{Name: "cloudinit", VolumeSource: kubevirtv1.VolumeSource{CloudInitNoCloud: &kubevirtv1.CloudInitNoCloudSource{UserData: "#user-data"}}},
					},
				},
			},
		},
	}
}

func create(t *testing.T, c client.Client, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatalf("create %T %s: %v", o, o.GetName(), err)
		}
		t.Cleanup(func() { _ = shared.admin.Delete(context.Background(), o) })
	}
}

// instance waits until the instance of a VirtualMachine satisfies check.
func instance(t *testing.T, c client.Client, name string, check func(*kubevirtv1.VirtualMachineInstance) bool) *kubevirtv1.VirtualMachineInstance {
	t.Helper()
	vmi := &kubevirtv1.VirtualMachineInstance{}
	eventually(t, "instance "+name, func() error {
		*vmi = kubevirtv1.VirtualMachineInstance{}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: name}, vmi); err != nil {
			return err
		}
		if !check(vmi) {
			return fmt.Errorf("status is %+v", vmi.Status)
		}
		return nil
	})
	return vmi
}

func isRunning(vmi *kubevirtv1.VirtualMachineInstance) bool { return vmi.IsRunning() }

// waitsFor matches an instance with a failed condition of this reason.
func waitsFor(reason string) func(*kubevirtv1.VirtualMachineInstance) bool {
	return func(vmi *kubevirtv1.VirtualMachineInstance) bool {
		for _, c := range vmi.Status.Conditions {
			if c.Reason == reason && c.Status == corev1.ConditionFalse && c.Message != "" {
				return !vmi.IsRunning()
			}
		}
		return false
	}
}

func printableStatus(t *testing.T, name string, want kubevirtv1.VirtualMachinePrintableStatus) {
	t.Helper()
	eventually(t, "status of "+name, func() error {
		vm := &kubevirtv1.VirtualMachine{}
		if err := shared.admin.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: name}, vm); err != nil {
			return err
		}
		if vm.Status.PrintableStatus != want {
			return fmt.Errorf("%q, want %q", vm.Status.PrintableStatus, want)
		}
		return nil
	})
}
