// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/uuid"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/harvester"
	"github.com/butlerdotdev/butler/internal/sim/simtest"
	"github.com/butlerdotdev/butler/provider"
)

// fixture is the simulated Harvester that all tests of this package share.
type fixture struct {
	*simtest.Simulator
	admin      client.Client
	kubeconfig []byte
}

var shared *fixture // set by TestMain alone

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	log.SetLogger(logr.Discard())
	dir, err := os.MkdirTemp("", "harvester")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if shared, err = start(dir, sim.Seed{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = shared.Stop() }()
	return m.Run()
}

func start(dir string, seed sim.Seed) (*fixture, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	seed.Hosts = []string{"harvester.example:6443"}
	s, err := simtest.Start(ctx, simtest.Options{Dir: dir, Platform: sim.Platform(), Seed: seed, Drain: drainAll})
	if err != nil {
		return nil, err
	}
	w := &fixture{Simulator: s}
	return w, w.open()
}

func (w *fixture) open() error {
	credentials, err := w.Credentials()
	if err != nil {
		return err
	}
	w.kubeconfig = credentials[v1alpha1.KeyKubeconfig]
	config, err := clientcmd.BuildConfigFromFlags("", w.API.Admin())
	if err != nil {
		return err
	}
	s, err := scheme()
	if err != nil {
		return err
	}
	w.admin, err = client.New(config, client.Options{Scheme: s, Mapper: mapper()})
	return err
}

// config is what the reference documentation shows, over the simulated network.
func (w *fixture) config(change ...func(*provider.Config)) provider.Config {
	c := provider.Config{ProviderConfig: &v1alpha1.ProviderConfig{}}
	c.Name = "harvester-prod"
	c.Spec.Provider = v1alpha1.ProviderHarvester
	c.Spec.CredentialsRef = &v1alpha1.SecretReference{Name: "harvester-kubeconfig"}
	c.Spec.Harvester = &v1alpha1.HarvesterSpec{Namespace: "default", NetworkName: "default/workloads", ImageName: "default/talos-v1.9.2"}
	c.Credentials = provider.NewCredentials(map[string][]byte{"kubeconfig": w.kubeconfig})
	c.Transport = provider.Transport{DialContext: w.Network.Dial}
	for _, f := range change {
		f(&c)
	}
	return c
}

func connected(t *testing.T, change ...func(*provider.Config)) provider.Platform {
	t.Helper()
	p, err := Provider().Connect(t.Context(), shared.config(change...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// wanted is a machine with an owner of its own.
func wanted(name string, change ...func(*provider.MachineSpec)) provider.MachineSpec {
	s := provider.MachineSpec{
		MachineRef: provider.MachineRef{Name: name, Owner: provider.Owner{ID: uuid.NewString(), ClusterID: uuid.NewString()}},
		Role:       v1alpha1.RoleWorker, CPU: 4, MemoryMB: 8192, DiskGB: 50,
	}
	for _, f := range change {
		f(&s)
	}
	return s
}

// await waits until the machine is in the state.
func await(t *testing.T, m provider.Machines, ref provider.MachineRef, want provider.State) provider.Machine {
	t.Helper()
	var last provider.Machine
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var err error
		if last, err = m.Observe(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		if last.State == want {
			return last
		}
	}
	t.Fatalf("machine %s is %s (%s), want %s", ref.Name, last.State, last.Message, want)
	return last
}

// remove deletes as the reconciler does: again until nothing is left.
func remove(t *testing.T, m provider.Machines, ref provider.MachineRef) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		left, err := m.Delete(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if left.State == provider.StateAbsent {
			return
		}
	}
	t.Fatalf("machine %s is not gone", ref.Name)
}

// create makes a machine and returns what Create said; then it runs.
func create(t *testing.T, m provider.Machines, s provider.MachineSpec) provider.Machine {
	t.Helper()
	made, err := m.Create(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tidy(t, m, s.MachineRef) })
	await(t, m, s.MachineRef, provider.StateRunning)
	return made
}

// tidy removes what a test has made, after its context has ended.
func tidy(t *testing.T, m provider.Machines, ref provider.MachineRef) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for {
		left, err := m.Delete(ctx, ref)
		if err != nil {
			t.Errorf("tidy %s: %v", ref.Name, err)
			return
		}
		if left.State == provider.StateAbsent {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}
