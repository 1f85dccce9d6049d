// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package cloudtest runs a simulated platform for the tests of its own package: on a
// datacenter whose machines open one port, with an auditor and faults that tests replace.
package cloudtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/front"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

// Port is the one that every machine serves.
const Port = 6443

// deadline is how long Until waits.
const deadline = 20 * time.Second

// Fixture is a simulated platform that runs. It ends with its test.
type Fixture struct {
	Dir       string
	Network   *network.Network
	Faults    *fault.Injector
	Auditor   *audit.Auditor // expects two machines of the cluster audited
	Authority *front.Authority
	API       facade.API
	Boots     atomic.Int32 // how often a machine was switched on
	// Booted, if set, is called with each machine that is on.
	Booted func(datacenter.Machine)
	// Create is how long the platform takes to create a machine.
	Create time.Duration
}

// Start starts a platform with a seed in a directory, and returns when it serves. Booted and
// Create may be set before.
func (f *Fixture) Start(t testing.TB, p facade.Platform, dir string, seed any) {
	t.Helper()
	f.Dir, f.Network, f.Faults = dir, network.New(), fault.NewInjector(fault.Plan{})
	var err error
	f.Auditor, err = audit.Open(audit.Options{Dir: dir, Desired: []audit.Desired{{Cluster: "audited", Machines: 2}}})
	Must(t, err)
	f.Authority, err = front.OpenAuthority(filepath.Join(dir, "authority"))
	Must(t, err)
	d, err := datacenter.New(datacenter.Options{
		Dir: filepath.Join(dir, "datacenter"), Network: f.Network, Faults: f.Faults, Boot: f.boot,
		Subnets: map[string]datacenter.Subnet{"": {Prefix: netip.MustParsePrefix("192.0.2.0/24")}},
	})
	Must(t, err)
	t.Cleanup(d.Close)
	raw, err := json.Marshal(seed)
	Must(t, err)
	f.API, err = p.Start(t.Context(), facade.Options{
		Dir: filepath.Join(dir, "platform"), Datacenter: d, Authority: f.Authority, Network: f.Network, Seed: raw, Create: f.Create, Faults: f.Faults, Auditor: f.Auditor,
	})
	Must(t, err)
	t.Cleanup(func() { _ = f.API.Stop() })
}

func (f *Fixture) boot(ctx context.Context, m datacenter.Machine) error {
	f.Boots.Add(1)
	if f.Booted != nil {
		f.Booted(m)
	}
	l, err := m.Host.Listen(Port)
	if err != nil {
		return err
	}
	defer l.Close()
	<-ctx.Done()
	return nil
}

// Client returns one that sends everything over the simulated network, and trusts its
// authority.
func (f *Fixture) Client() *http.Client {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(f.Authority.Certificate())
	return &http.Client{Transport: &http.Transport{DialContext: f.Network.Dial, TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
}

// Credential returns the value of a key of the ProviderConfig's Secret.
func (f *Fixture) Credential(t testing.TB, key string) string {
	t.Helper()
	raw, err := os.ReadFile(f.API.Credentials()[key])
	Must(t, err)
	return string(raw)
}

// Plan replaces the fault plan by one with faults in YAML.
func (f *Fixture) Plan(t testing.TB, faults string) {
	t.Helper()
	p, err := fault.Parse([]byte("faults:\n" + faults))
	Must(t, err)
	Must(t, f.API.Prepare(t.Context(), p))
	f.Faults.Replace(p)
}

// Must ends the test with an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Until returns when something has happened, and ends the test if it does not.
func Until(t testing.TB, what string, done func() bool) {
	t.Helper()
	end := time.After(deadline)
	for !done() {
		select {
		case <-end:
			t.Fatalf("it did not happen: %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}
