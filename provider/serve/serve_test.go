// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/program"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

var api *rest.Config

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(planetest.Run(m, plane.Options{AdmissionOff: []string{"ServiceAccount"}}, func(p *plane.Plane) { api = p.Config() }))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// served runs a provider over the platform until the test ends.
func served(t *testing.T, p *inmemory.Platform, o Options) client.Client {
	t.Helper()
	s, err := program.Scheme()
	must(t, err)
	m, err := manager.New(api, manager.Options{
		Scheme: s, Metrics: server.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: new(true)},
	})
	must(t, err)
	must(t, Register(m, p.Provider(v1alpha1.ProviderHarvester), o))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	c, err := client.New(api, client.Options{Scheme: s})
	must(t, err)
	return c
}

// furnish creates a namespace with Secret, ProviderConfig and ClusterBootstrap.
func furnish(t *testing.T, c client.Client, id string) *v1alpha1.ProviderConfig {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	must(t, c.Create(t.Context(), ns))
	must(t, c.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: "credentials"}}))
	config := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: "config"}}
	config.Spec.Provider = v1alpha1.ProviderHarvester
	config.Spec.CredentialsRef = &v1alpha1.SecretReference{Name: "credentials"}
	config.Spec.Harvester = &v1alpha1.HarvesterSpec{NetworkName: "default/workloads"}
	must(t, c.Create(t.Context(), config))
	cb := &v1alpha1.ClusterBootstrap{ObjectMeta: metav1.ObjectMeta{
		Namespace: ns.Name, Name: "mgmt", Annotations: map[string]string{v1alpha1.AnnotationClusterID: id},
	}}
	cb.Spec.Provider, cb.Spec.ProviderRef.Name = v1alpha1.ProviderHarvester, "config"
	cb.Spec.Cluster = v1alpha1.ClusterSpec{
		Name: "mgmt", Topology: v1alpha1.TopologySingleNode,
		ControlPlane: v1alpha1.NodePool{Replicas: 1, CPU: 4, MemoryMB: 8192, DiskGB: 50},
	}
	cb.Spec.Network = v1alpha1.NetworkSpec{PodCIDR: "10.244.0.0/16", ServiceCIDR: "10.96.0.0/12", VIP: "10.40.0.100"}
	cb.Spec.Talos = v1alpha1.TalosSpec{Version: "v1.9.2", Schematic: "abc"}
	must(t, c.Create(t.Context(), cb))
	return config
}

// await retries check until it returns nil; it gives up after twenty seconds.
func await(t *testing.T, check func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	t.Fatal(err)
}

func TestOrphansAreReportedAndLeftAlone(t *testing.T) {
	p := inmemory.New(inmemory.Options{})
	c := served(t, p, Options{OrphanEvery: 50 * time.Millisecond, OrphanGrace: time.Nanosecond})
	config := furnish(t, c, "left")
	p.Plant(provider.MachineRef{Name: "lost", Owner: provider.Owner{ID: "lost", ClusterID: "left"}})
	await(t, func() error {
		must(t, c.Get(t.Context(), client.ObjectKeyFromObject(config), config))
		if len(config.Status.Orphans) != 1 || !config.Status.Ready {
			return fmt.Errorf("status is %+v", config.Status)
		}
		return nil
	})
	lists := p.Calls(inmemory.List)
	await(t, func() error {
		if p.Calls(inmemory.List) < lists+3 {
			return fmt.Errorf("not looked at again")
		}
		return nil
	})
	if p.Calls(inmemory.Delete) != 0 {
		t.Error("an orphan was deleted without the flag")
	}
}

func TestOrphansAreDeletedWhereThatIsSaid(t *testing.T) {
	p := inmemory.New(inmemory.Options{})
	c := served(t, p, Options{OrphanEvery: 50 * time.Millisecond, OrphanGrace: time.Nanosecond, DeleteOrphans: true})
	config := furnish(t, c, "swept")
	p.Plant(provider.MachineRef{Name: "lost", Owner: provider.Owner{ID: "lost", ClusterID: "swept"}})
	p.Plant(provider.MachineRef{Name: "strange", Owner: provider.Owner{ID: "strange", ClusterID: "other"}})
	await(t, func() error {
		must(t, c.Get(t.Context(), client.ObjectKeyFromObject(config), config))
		if left := p.Machines(); len(left) != 1 || left[0].Ref.Name != "strange" || len(config.Status.Orphans) > 0 {
			return fmt.Errorf("left is %+v, the status says %+v", left, config.Status.Orphans)
		}
		return nil
	})
}

func TestEveryCallNamesTheProgram(t *testing.T) {
	p := inmemory.New(inmemory.Options{})
	c := served(t, p, Options{})
	furnish(t, c, "named")
	await(t, func() error {
		if p.Calls(inmemory.Connect) == 0 {
			return fmt.Errorf("not connected yet")
		}
		return nil
	})
	shape := regexp.MustCompile(`^butler-provider-harvester/\S+ \([0-9a-f]{8}\)$`)
	agents := slices.Collect(maps.Keys(p.Agents()))
	if len(agents) != 1 || !shape.MatchString(agents[0]) {
		t.Errorf("the agents are %q", agents)
	}
}

func TestFlagsOfAProvider(t *testing.T) {
	p := ProgramWith(inmemory.New(inmemory.Options{}).Provider(v1alpha1.ProviderHarvester), Options{})
	f := flag.NewFlagSet("x", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	p.Flags(f)
	if got := f.Lookup("delete-orphans"); got == nil || got.DefValue != "false" {
		t.Errorf("--delete-orphans is %+v", got)
	}
	if got := f.Lookup("orphan-grace"); got == nil || got.DefValue != DefaultOrphanGrace.String() {
		t.Errorf("--orphan-grace is %+v", got)
	}
	must(t, f.Parse([]string{"--orphan-grace=0s"}))
	if err := p.Register(nil); err == nil || !strings.Contains(err.Error(), "--orphan-grace") {
		t.Errorf("no grace at all: %v", err)
	}
}
