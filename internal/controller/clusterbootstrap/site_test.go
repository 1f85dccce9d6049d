// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/addon/source"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/network"
	simtalos "github.com/butlerdotdev/butler/internal/sim/talos"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/inmemory"
	"github.com/butlerdotdev/butler/provider/serve"
)

const (
	patience = 90 * time.Second
	vip      = "10.0.0.200"
)

// site is a fixture whose machines are real enough: the in-memory platform makes
// them, emulated Talos nodes boot at their addresses, and a whole provider and
// the bootstrap run as they do in a program.
type site struct {
	*fixture
	network    *network.Network
	datacenter *datacenter.Datacenter
	platform   *inmemory.Platform
	dir        string
	charts     *source.Source
	image      string          // that machines boot from
	faults     *fault.Injector // their clock starts when it is begun

	mu      sync.Mutex
	dialled map[string]bool // hosts that the bootstrap has called
	off     map[string]bool // machines that stay off, and endpoints that lead somewhere
	on      map[string]bool // machines that were powered on
}

// newSite is a site with a provider. With bootstrap, the reconciler runs too;
// otherwise the test calls it.
func newSite(t *testing.T, p v1alpha1.ProviderType, bootstrap bool) *site {
	t.Helper()
	return newSlowSite(t, p, bootstrap, datacenter.Profile{})
}

// newSlowSite is one whose machines take their time.
func newSlowSite(t *testing.T, p v1alpha1.ProviderType, bootstrap bool, profile datacenter.Profile) *site {
	t.Helper()
	return siteWith(t, p, bootstrap, siteOptions{profile: profile})
}

// siteOptions are what a site has that most go without.
type siteOptions struct {
	profile datacenter.Profile
	addons  []addon.Addon // for which stand-ins are served
	faults  fault.Plan
	image   string // that machines boot from; empty: one of what their configuration asks for
}

func siteWith(t *testing.T, p v1alpha1.ProviderType, bootstrap bool, o siteOptions) *site {
	t.Helper()
	s := &site{fixture: newFixture(t), network: network.New(), dir: t.TempDir(), image: o.image, dialled: map[string]bool{}, off: map[string]bool{}, on: map[string]bool{}}
	s.platform = inmemory.New(inmemory.Options{LoadBalancers: !p.OnPrem(), NodeProviderIDs: !p.OnPrem(), Push: true})
	s.faults = fault.NewInjector(o.faults)
	s.charts = s.serveCharts(o.addons)
	nodes := simtalos.New(simtalos.Options{
		Executable: planetest.Executable(t), Network: s.network, Dir: filepath.Join(s.dir, "clusters"), Profile: o.profile, Faults: s.faults,
		Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	var err error
	s.datacenter, err = datacenter.New(datacenter.Options{
		Dir: filepath.Join(s.dir, "machines"), Network: s.network, Boot: nodes.Boot,
		Subnets: map[string]datacenter.Subnet{"": {Prefix: netip.MustParsePrefix("10.0.0.0/24"), Gateway: netip.MustParseAddr("10.0.0.254")}},
	})
	s.must(err)
	t.Cleanup(s.datacenter.Close)
	s.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "credentials"}, StringData: map[string]string{"kubeconfig": "x", "serviceAccountKey": "{}"}})
	s.create(configOf(p))
	s.Dial = s.network.Dial
	s.start(p, bootstrap)
	return s
}

func configOf(p v1alpha1.ProviderType) *v1alpha1.ProviderConfig {
	c := providerConfig()
	if !p.OnPrem() {
		c.Spec.Provider, c.Spec.Harvester = p, nil
	}
	switch p {
	case v1alpha1.ProviderGCP:
		c.Spec.GCP = &v1alpha1.GCPSpec{ProjectID: "project", Region: "region"}
	case v1alpha1.ProviderAzure:
		c.Spec.Azure = &v1alpha1.AzureSpec{SubscriptionID: "subscription", ResourceGroup: "group"}
	default:
	}
	return c
}

// start runs the controllers, and powers on what the platform makes, until the
// test ends.
func (s *site) start(p v1alpha1.ProviderType, bootstrap bool) {
	s.Helper()
	m, err := manager.New(api.Config(), manager.Options{
		Scheme: s.Scheme(), Metrics: server.Options{BindAddress: "0"},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{s.namespace: {}}},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	s.must(err)
	s.must(serve.Register(m, s.platform.Provider(p), serve.Options{}))
	if bootstrap {
		s.must(Register(m, Options{Dial: s.dial, Addons: s.charts}))
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := m.Start(ctx); err != nil {
			s.Error(err)
		}
	})
	running.Go(func() {
		for ctx.Err() == nil {
			s.powerOn()
			s.balance()
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	s.Cleanup(func() { cancel(); running.Wait() })
}

// dial connects, and records to what.
func (s *site) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.dialled[host] = true
	s.mu.Unlock()
	return s.network.Dial(ctx, network, addr)
}

// calls are the hosts that the bootstrap has called.
func (s *site) calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.dialled))
}

// powerOn boots every machine of the platform that has an address, and ends those
// that the platform does not have any more.
func (s *site) powerOn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	gone := maps.Clone(s.on)
	for _, m := range s.platform.Machines() {
		delete(gone, m.ID)
		if _, on := s.datacenter.Running(m.ID); on || m.State != provider.StateRunning || s.off[m.ID] {
			continue
		}
		_, err := s.datacenter.PowerOn(s.guest(m))
		if err != nil {
			s.off[m.ID] = true
			s.Error(err)
		}
		s.on[m.ID] = true
	}
	for id := range gone {
		delete(s.on, id)
		s.datacenter.PowerOff(id)
		if err := s.datacenter.Remove(id); err != nil {
			s.Error(err)
		}
	}
}

// guest is what boots on a machine. One with a provider ID is in a cloud, which has its
// user data.
func (s *site) guest(m provider.Machine) datacenter.Spec {
	g := datacenter.Spec{ID: m.ID, Name: m.Ref.Name, CPU: 4, MemoryMB: 8192, Address: m.Addresses[0], Image: s.image}
	for i, disk := range m.Disks {
		g.Disks = append(g.Disks, datacenter.Disk{Device: fmt.Sprintf("/dev/vd%c", 'a'+i), Serial: disk.Serial, Transport: "virtio", SizeBytes: 500 << 30, System: i == 0})
	}
	if m.NodeProviderID != "" {
		g.Metadata = &datacenter.Metadata{Platform: "gcp", InstanceID: m.ID, ProviderID: m.NodeProviderID}
		for _, seen := range s.platform.Sightings(m.Ref.Name) {
			g.UserData = []byte(seen.Spec.UserData)
		}
	}
	return g
}

// powerOff pulls the plug of a machine.
func (s *site) powerOff(name string) {
	s.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.platform.Sightings(name) {
		s.off[m.ID] = true
		s.datacenter.PowerOff(m.ID)
	}
}

// wipe makes a machine come up again with an empty disk.
func (s *site) wipe(name string) {
	s.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.platform.Sightings(name) {
		s.datacenter.PowerOff(m.ID)
		s.must(s.datacenter.Remove(m.ID))
	}
}

// balance makes the platform's load balancer point to its targets, as clouds do:
// packets are passed on as they are.
func (s *site) balance() {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.balancer()
	if err != nil || r.Status.Endpoint == "" || s.off[r.Status.Endpoint] {
		return
	}
	s.off[r.Status.Endpoint] = true // once
	for _, port := range append(r.Spec.AdditionalPorts, r.Spec.Port) {
		_, err = s.network.Balance(fmt.Sprintf("%s:%d", r.Status.Endpoint, port), func() []netip.AddrPort { return s.targetsAt(port) }, true)
		if err != nil {
			s.Error(err)
		}
	}
}

func (s *site) targetsAt(port int32) (out []netip.AddrPort) {
	for _, lb := range s.platform.LoadBalancers() {
		for _, target := range lb.Targets {
			out = append(out, netip.AddrPortFrom(netip.MustParseAddr(target.IP), uint16(port)))
		}
	}
	return out
}

// until follows a ClusterBootstrap until done says so.
func (s *site) until(name string, done func(*v1alpha1.ClusterBootstrap) bool) *v1alpha1.ClusterBootstrap {
	s.Helper()
	var cb *v1alpha1.ClusterBootstrap
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if cb = s.get(name); done(cb) {
			return cb
		}
		if cb.Status.Phase == v1alpha1.BootstrapFailed {
			s.Fatalf("failed: %s", cb.Status.FailureMessage)
		}
	}
	s.Fatalf("gave up at %s: %s\n%+v", cb.Status.Phase, progressing(cb).Message, cb.Status.Machines)
	return nil
}

func (s *site) ready(name string) *v1alpha1.ClusterBootstrap {
	s.Helper()
	return s.until(name, func(cb *v1alpha1.ClusterBootstrap) bool { return cb.Status.Phase == v1alpha1.BootstrapReady })
}

// kubernetes is a client with the kubeconfig that the bootstrap wrote.
func (s *site) kubernetes(name string) *kubernetes.Clientset {
	s.Helper()
	secret := &corev1.Secret{}
	s.must(s.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: name + "-kubeconfig"}, secret))
	config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data["kubeconfig"])
	s.must(err)
	config.Dial = s.network.Dial
	c, err := kubernetes.NewForConfig(config)
	s.must(err)
	return c
}

// bootstraps counts how often an etcd was begun.
func (s *site) bootstraps() int {
	s.Helper()
	files, err := filepath.Glob(filepath.Join(s.dir, "clusters", "*", "bootstraps"))
	s.must(err)
	count := 0
	for _, f := range files {
		data, err := os.ReadFile(f)
		s.must(err)
		count += strings.Count(string(data), "\n")
	}
	return count
}

// haBootstrap is an HA cluster of three control planes and workers.
func haBootstrap(p v1alpha1.ProviderType, workers int32) *v1alpha1.ClusterBootstrap {
	cb := clusterBootstrap()
	cb.Spec.Provider = p
	cb.Spec.Cluster.Topology = v1alpha1.TopologyHA
	cb.Spec.Cluster.ControlPlane.Replicas = 3
	cb.Spec.Cluster.ControlPlane.ExtraDisks = nil
	if workers > 0 {
		cb.Spec.Cluster.Workers = &v1alpha1.NodePool{
			Replicas: workers, CPU: 8, MemoryMB: 16384, DiskGB: 100,
			ExtraDisks: []v1alpha1.DiskSpec{{SizeGB: 500, StorageClass: "bulk"}},
			Labels:     map[string]string{"example.com/pool": "workers", "node-role.kubernetes.io/worker": ""},
		}
	}
	cb.Spec.Network.VIP = vip
	return cb
}

func isReady(cb *v1alpha1.ClusterBootstrap) bool {
	return meta.IsStatusConditionTrue(cb.Status.Conditions, v1alpha1.ConditionReady)
}
