// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
)

// conformanceToken is what the driver shows to the proxy in front of Harvester.
const conformanceToken = "token-that-nobody-may-see"

func TestConformance(t *testing.T) {
	b := newProxyBed(t)
	allowAdoption(t)
	providertest.Run(t, providertest.Suite{
		Provider: Provider(), Config: b.config(t), Bed: b,
		Machine: provider.MachineSpec{Role: v1alpha1.RoleWorker, CPU: 2, MemoryMB: 2048, DiskGB: 10},
		Secrets: []string{conformanceToken},
		Missing: map[string]providertest.Change{
			"image":   func(_ *provider.Config, s *provider.MachineSpec) { s.Image = "default/unheard-of" },
			"network": func(c *provider.Config, _ *provider.MachineSpec) { c.Spec.Harvester.NetworkName = "default/unheard-of" },
		},
		Refused: map[string]providertest.Change{
			"a label of the driver": func(_ *provider.Config, s *provider.MachineSpec) {
				s.Labels = map[string]string{labelOwner: "me"}
			},
			"network.mode ipam": func(c *provider.Config, _ *provider.MachineSpec) {
				c.Spec.Network = &v1alpha1.ProviderNetworkSpec{Mode: v1alpha1.NetworkModeIPAM}
			},
		},
		WithoutLoadBalancers: "on-premises clusters have a virtual IP instead",
		Record:               "../../docs/contributing/provider-contract.md",
	})
}

// proxyBed stands before the simulated Harvester and can break its answers.
type proxyBed struct {
	server   *httptest.Server
	upstream *httputil.ReverseProxy

	mu    sync.Mutex
	fault providertest.Fault
	over  chan struct{} // closed when the fault is lifted

	agents map[string]bool
}

func newProxyBed(t *testing.T) *proxyBed {
	t.Helper()
	config, err := clientcmd.RESTConfigFromKubeConfig(shared.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.Dial = shared.network.Dial
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	b := &proxyBed{over: make(chan struct{}), agents: map[string]bool{}}
	b.upstream = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Del("Authorization")
		},
		Transport: transport, FlushInterval: -1,
	}
	b.server = httptest.NewUnstartedServer(http.HandlerFunc(b.serve))
	b.server.EnableHTTP2 = true
	b.server.Config.ErrorLog = nil
	b.server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	b.server.StartTLS()
	t.Cleanup(b.server.Close)
	return b
}

// config leads to the proxy, which the operating system's network reaches too.
func (b *proxyBed) config(t *testing.T) provider.Config {
	t.Helper()
	k := clientcmdapi.NewConfig()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b.server.Certificate().Raw})
	k.Clusters["c"] = &clientcmdapi.Cluster{Server: b.server.URL, CertificateAuthorityData: authority}
	k.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: conformanceToken}
	k.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	k.CurrentContext = "x"
	data, err := clientcmd.Write(*k)
	if err != nil {
		t.Fatal(err)
	}
	return shared.config(func(c *provider.Config) {
		c.Credentials = provider.NewCredentials(map[string][]byte{"kubeconfig": data})
		c.Transport = provider.Transport{DialContext: (&net.Dialer{}).DialContext}
	})
}

// Inject implements providertest.Bed.
func (b *proxyBed) Inject(ctx context.Context, f providertest.Fault) (func(), error) {
	if f == providertest.Drained {
		return func() {}, drainAll(ctx)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fault, b.over = f, make(chan struct{})
	over := b.over
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.fault = ""
		close(over)
	}, nil
}

// Agents implements providertest.AgentBed.
func (b *proxyBed) Agents() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer clear(b.agents)
	return sorted(b.agents)
}

func (b *proxyBed) note(agent string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.agents[agent] = true
}

func (b *proxyBed) current() (providertest.Fault, chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fault, b.over
}

// serve answers as the fault says, or as Harvester does.
func (b *proxyBed) serve(w http.ResponseWriter, r *http.Request) {
	b.note(r.UserAgent())
	fault, over := b.current()
	machine := strings.Contains(r.URL.Path, "/virtualmachines")
	listing := r.Method == http.MethodGet && r.URL.Query().Has("labelSelector")
	switch {
	case fault == providertest.Throttled:
		w.Header().Set("Retry-After", "1")
		answer(w, apierrors.NewTooManyRequestsError("the server has received too many requests").ErrStatus)
	case fault == providertest.Denied:
		answer(w, apierrors.NewForbidden(corev1.Resource("things"), "", fmt.Errorf("the user may do nothing")).ErrStatus)
	case fault == providertest.NoCapacity && r.Method == http.MethodPost:
		answer(w, apierrors.NewForbidden(corev1.Resource("persistentvolumeclaims"), "", fmt.Errorf("exceeded quota: all")).ErrStatus)
	case fault == providertest.HalfDone && r.Method == http.MethodPost && machine:
		answer(w, apierrors.NewServiceUnavailable("the webhook does not answer").ErrStatus)
	case fault == providertest.Silent, fault == providertest.SlowList && listing:
		b.hang(r, over)
		b.upstream.ServeHTTP(w, r)
	case fault == providertest.LostResponse && r.Method == http.MethodPost && machine:
		b.upstream.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	case fault == providertest.DeleteFailsLate && r.Method == http.MethodDelete && machine:
		answer(w, metav1.Status{Status: metav1.StatusSuccess, Code: http.StatusOK})
	case fault == providertest.OtherPlatform && strings.HasPrefix(r.URL.Path, "/api/v1/namespaces/") && strings.Count(r.URL.Path, "/") == 4:
		otherNamespace(w, path.Base(r.URL.Path))
	case fault == providertest.CreateFailsLate && r.Method == http.MethodGet && machine && !listing:
		b.crashing(w, r)
	default:
		b.upstream.ServeHTTP(w, r)
	}
}

func (b *proxyBed) hang(r *http.Request, over chan struct{}) {
	select {
	case <-over:
	case <-r.Context().Done():
	}
}

// crashing tells of a machine that KubeVirt has given up for the moment.
func (b *proxyBed) crashing(w http.ResponseWriter, r *http.Request) {
	record, vm := httptest.NewRecorder(), &kubevirtv1.VirtualMachine{}
	b.upstream.ServeHTTP(record, r)
	if err := json.Unmarshal(record.Body.Bytes(), vm); err != nil || record.Code != http.StatusOK {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(record.Code)
		_, _ = io.Copy(w, record.Body)
		return
	}
	vm.Status.PrintableStatus = kubevirtv1.VirtualMachineStatusCrashLoopBackOff
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(vm)
}

// otherNamespace is a namespace as another cluster has it.
func otherNamespace(w http.ResponseWriter, name string) {
	ns := &corev1.Namespace{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("other-" + name)},
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(ns)
}

func answer(w http.ResponseWriter, s metav1.Status) {
	s.Kind, s.APIVersion = "Status", "v1"
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(s.Code))
	_ = json.NewEncoder(w).Encode(s)
}

// Plant implements providertest.Bed.
func (b *proxyBed) Plant(ctx context.Context, name string) error {
	return shared.admin.Create(ctx, strangersMachine(name))
}

// Clone implements providertest.Bed. Harvester's clone copies the labels of the
// VirtualMachine, and its restore those of the disks too.
func (b *proxyBed) Clone(ctx context.Context, name, as string) (func(), error) {
	vm := &kubevirtv1.VirtualMachine{}
	if err := shared.admin.Get(ctx, client.ObjectKey{Namespace: "default", Name: name}, vm); err != nil {
		return nil, err
	}
	copies := []client.Object{cloned(vm, as)}
	for _, v := range vm.Spec.Template.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		c := &corev1.PersistentVolumeClaim{}
		if err := shared.admin.Get(ctx, client.ObjectKey{Namespace: "default", Name: v.PersistentVolumeClaim.ClaimName}, c); err != nil {
			return nil, err
		}
		copies = append(copies, clonedDisk(c, as, v.Name))
	}
	for _, o := range copies {
		if err := shared.admin.Create(ctx, o); err != nil {
			return nil, err
		}
	}
	return func() {
		for _, o := range copies {
			_ = shared.admin.Delete(context.WithoutCancel(ctx), o) // what is left is seen by the next look
		}
	}, nil
}

// cloned is a copy of a machine with all its labels, switched off.
func cloned(vm *kubevirtv1.VirtualMachine, as string) *kubevirtv1.VirtualMachine {
	halted := kubevirtv1.RunStrategyHalted
	c := &kubevirtv1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: vm.Namespace, Name: as, Labels: vm.Labels}, Spec: *vm.Spec.DeepCopy()}
	c.Spec.RunStrategy = &halted
	for i, v := range c.Spec.Template.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			c.Spec.Template.Spec.Volumes[i].VolumeSource = claimVolume(clonedDiskName(as, v.Name))
		}
	}
	return c
}

func clonedDiskName(machine, volume string) string { return machine + "-" + volume + "-x7k2p" }

func clonedDisk(c *corev1.PersistentVolumeClaim, machine, volume string) *corev1.PersistentVolumeClaim {
	meta := metav1.ObjectMeta{Namespace: c.Namespace, Name: clonedDiskName(machine, volume), Labels: c.Labels, Annotations: map[string]string{imageAnnotation: c.Annotations[imageAnnotation]}}
	spec := c.Spec.DeepCopy()
	spec.VolumeName = ""
	return &corev1.PersistentVolumeClaim{ObjectMeta: meta, Spec: *spec}
}

// Look implements providertest.Bed.
func (b *proxyBed) Look(ctx context.Context, name string) (providertest.Sight, error) {
	var sight providertest.Sight
	vm := &kubevirtv1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	err := shared.admin.Get(ctx, client.ObjectKeyFromObject(vm), vm)
	if client.IgnoreNotFound(err) != nil {
		return sight, err
	}
	if err == nil {
		sight.Machines = append(sight.Machines, b.seen(ctx, vm))
	}
	claims, secrets := &corev1.PersistentVolumeClaimList{}, &corev1.SecretList{}
	if err := shared.admin.List(ctx, claims, client.InNamespace("default")); err != nil {
		return sight, err
	}
	if err := shared.admin.List(ctx, secrets, client.InNamespace("default")); err != nil {
		return sight, err
	}
	for i := range claims.Items {
		if c := &claims.Items[i]; strings.HasPrefix(c.Name, name+"-") {
			sight.Parts = append(sight.Parts, "PersistentVolumeClaim "+c.Name)
			measure(&sight, name, c)
		}
	}
	for _, s := range secrets.Items {
		if strings.HasPrefix(s.Name, name+"-") {
			sight.Parts = append(sight.Parts, "Secret "+s.Name)
		}
	}
	return sight, nil
}

// measure notes the size of a disk at its machine.
func measure(sight *providertest.Sight, name string, c *corev1.PersistentVolumeClaim) {
	if len(sight.Machines) == 0 {
		return
	}
	size := int32(c.Spec.Resources.Requests.Storage().Value() >> 30)
	if c.Name == rootName(name) {
		sight.Machines[0].DiskGB = size
		return
	}
	sight.Machines[0].ExtraDisksGB = append(sight.Machines[0].ExtraDisksGB, size)
}

func (b *proxyBed) seen(ctx context.Context, vm *kubevirtv1.VirtualMachine) providertest.Seen {
	spec := vm.Spec.Template.Spec
	s := providertest.Seen{
		ID: string(vm.UID), Owner: vm.Labels[labelOwner], Labels: vm.Labels,
		Version: fmt.Sprintf("%d %v %v", vm.Generation, vm.Annotations, vm.DeletionTimestamp),
		CPU:     int32(spec.Domain.CPU.Cores), MemoryMB: int32(spec.Domain.Memory.Guest.Value() >> 20),
	}
	for _, v := range spec.Volumes {
		if v.CloudInitNoCloud != nil {
			s.UserData = cloudInitData(ctx, v.CloudInitNoCloud)
		}
	}
	return s
}

// cloudInitData is the user data that the guest would read.
func cloudInitData(ctx context.Context, c *kubevirtv1.CloudInitNoCloudSource) string {
	if c.UserDataSecretRef == nil {
		return c.UserData
	}
	secret := &corev1.Secret{}
	if err := shared.admin.Get(ctx, client.ObjectKey{Namespace: "default", Name: c.UserDataSecretRef.Name}, secret); err != nil {
		return err.Error()
	}
	return string(secret.Data[userDataKey])
}
