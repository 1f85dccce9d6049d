// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos_test

import (
	"context"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/network"
	simtalos "github.com/butlerdotdev/butler/internal/sim/talos"
	"github.com/butlerdotdev/butler/internal/talos"
	"github.com/butlerdotdev/butler/internal/talos/talostest"
)

const (
	patience  = 30 * time.Second
	sharedIP  = "10.40.0.100"
	testClass = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515"
)

// site is a datacenter with emulated nodes and one operator's view of it.
type site struct {
	options    simtalos.Options
	dir        string // the datacenter's
	network    *network.Network
	subnet     datacenter.Subnet
	datacenter *datacenter.Datacenter
	secrets    []byte
	client     *talos.Client
	log        journal
}

// journal keeps the emulator's log.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func newSite(t *testing.T, o simtalos.Options) *site {
	t.Helper()
	s := &site{network: network.New(), dir: t.TempDir(), subnet: datacenter.Subnet{
		Prefix: netip.MustParsePrefix("10.40.0.0/24"), Reserved: []datacenter.Range{{From: netip.MustParseAddr(sharedIP)}},
	}}
	o.Network, o.Dir = s.network, t.TempDir()
	o.Log = slog.New(slog.NewTextHandler(io.MultiWriter(t.Output(), &s.log), nil))
	s.options = o
	s.start(t)
	t.Cleanup(func() { s.datacenter.Close() })
	var err error
	s.secrets, err = talostest.NewSecrets(talostest.Version)
	check(t, err)
	s.client = s.newClient(t, s.secrets)
	return s
}

// start brings up the datacenter with an emulator that knows only what is on disk.
func (s *site) start(t *testing.T) {
	t.Helper()
	emulator := simtalos.New(s.options)
	var err error
	s.datacenter, err = datacenter.New(datacenter.Options{
		Dir:     s.dir,
		Network: s.network,
		Boot:    emulator.Boot,
		Removed: emulator.Removed,
		Subnets: map[string]datacenter.Subnet{"": s.subnet},
	})
	check(t, err)
}

// component is the executable of a control plane whose components run by way of a
// shell script: "$2" is the component's name, exec "$real" "$@" runs it. It has to be
// made before a test runs beside others: what they start would hold the file open.
func component(t *testing.T, script string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "component")
	check(t, os.WriteFile(file, []byte("#!/bin/sh\nreal='"+planetest.Executable(t)+"'\n"+script), 0o700))
	return file
}

func (s *site) newClient(t *testing.T, secrets []byte) *talos.Client {
	t.Helper()
	talosconfig, err := talos.Talosconfig(secrets, "dev", nil, nil)
	check(t, err)
	client, err := talos.NewClient(talosconfig, s.network.Dial)
	check(t, err)
	return client
}

func (s *site) powerOn(t *testing.T, id string) datacenter.Machine {
	t.Helper()
	m, err := s.datacenter.PowerOn(datacenter.Spec{ID: id, Name: id, CPU: 4, MemoryMB: 8192})
	check(t, err)
	return m
}

// testCluster is one whose nodes wait for no network.
func testCluster() talos.Cluster {
	return talos.Cluster{
		CNI:  talos.CNINone,
		Name: "dev", Endpoint: sharedIP, TalosVersion: "v1.9.2", Schematic: testClass,
		PodCIDR: "10.244.0.0/16", ServiceCIDR: "10.96.0.0/12",
		ScheduleOnControlPlanes: true, SharedIP: talos.SharedIP{Address: sharedIP},
	}
}

func (s *site) config(t *testing.T, name string, role talos.Role) []byte {
	t.Helper()
	config, err := talos.Config(s.secrets, testCluster(), talos.Node{
		Name: name, Role: role, Labels: map[string]string{"example.com/pool": "a"},
	})
	check(t, err)
	return config
}

// configure brings a machine from power on to configured.
func (s *site) configure(t *testing.T, m datacenter.Machine, role talos.Role) {
	t.Helper()
	address := m.Address.Addr().String()
	s.awaitState(t, address, talos.StateMaintenance)
	check(t, s.client.Apply(t.Context(), address, s.config(t, m.Name, role)))
}

func (s *site) awaitState(t *testing.T, address string, want talos.State) {
	t.Helper()
	var got talos.State
	eventually(t, func(ctx context.Context) bool {
		got, _ = s.client.State(ctx, address)
		return got == want
	}, func() any { return "state " + string(got) + ", want " + string(want) })
}

func eventually(t *testing.T, done func(context.Context) bool, last func() any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for !done(ctx) {
		select {
		case <-ctx.Done():
			t.Fatalf("gave up: %v", last())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
