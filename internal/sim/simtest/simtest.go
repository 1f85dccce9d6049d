// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package simtest runs a simulated platform for the tests of a driver and of its binary,
// and injects the faults of the conformance suite into it.
package simtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/front"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

// executable runs the components of a simulated platform.
const executable = "github.com/butlerdotdev/butler/internal/plane/planetest/executable"

// built returns the path of the executable. It is built once in a process: to find that nothing
// has changed takes seconds as well.
var built = sync.OnceValues(func() (string, error) { return planetest.Build(context.Background(), executable) })

// subnet is large enough for the machines of benchmarks.
const subnet = "10.40.0.0/16"

// Options describe a simulated platform. Dir and Platform are required.
type Options struct {
	Dir      string
	Platform facade.Platform
	// Seed is what exists on the platform, as Platform.Seed returns it.
	Seed    any
	Profile datacenter.Profile
	// Drain drains the hosts of all machines and returns when no machine is where it was;
	// nil: the platform cannot.
	Drain func(context.Context) error
	// Observe, if set, is called with every request.
	Observe func(*http.Request, fault.Call)
}

// Simulator is a simulated platform that runs. Its machines are on until they are powered
// off; no guest runs on them.
type Simulator struct {
	Network *network.Network
	API     facade.API

	options    Options
	authority  *front.Authority
	datacenter *datacenter.Datacenter
	faults     *fault.Injector

	mu       sync.Mutex
	agents   map[string]bool
	userData map[string]string // of the machines that have booted, by name
	boots    map[string]int    // of machines, by name
}

// Start starts the platform and returns when it serves.
func Start(ctx context.Context, o Options) (*Simulator, error) {
	s := &Simulator{Network: network.New(), options: o, faults: fault.NewInjector(fault.Plan{}), agents: map[string]bool{}, userData: map[string]string{}, boots: map[string]int{}}
	path, err := built()
	if err != nil {
		return nil, err
	}
	s.authority, err = front.OpenAuthority(filepath.Join(o.Dir, "authority"))
	if err != nil {
		return nil, err
	}
	seed, err := json.Marshal(o.Seed)
	if err != nil {
		return nil, err
	}
	if s.datacenter, err = s.openDatacenter(o); err != nil {
		return nil, err
	}
	s.API, err = o.Platform.Start(ctx, facade.Options{
		Dir: filepath.Join(o.Dir, "platform"), Executable: path, Datacenter: s.datacenter, Authority: s.authority, Network: s.Network,
		Seed: seed, Create: o.Profile.Create, Faults: s.faults, Observe: s.observe,
	})
	if err != nil {
		s.datacenter.Close()
		return nil, err
	}
	return s, nil
}

func (s *Simulator) openDatacenter(o Options) (*datacenter.Datacenter, error) {
	return datacenter.New(datacenter.Options{
		Dir: filepath.Join(o.Dir, "datacenter"), Network: s.Network, Profile: o.Profile, Faults: s.faults,
		Boot:    s.boot,
		Subnets: map[string]datacenter.Subnet{"": {Prefix: netip.MustParsePrefix(subnet)}},
	})
}

func (s *Simulator) boot(ctx context.Context, m datacenter.Machine) error {
	s.mu.Lock()
	s.userData[m.Name] = string(m.UserData)
	s.boots[m.Name]++
	s.mu.Unlock()
	<-ctx.Done()
	return nil
}

// UserData returns what the machine of a name was given when it booted last; false means
// that it has not booted. A platform need not show it in its API.
func (s *Simulator) UserData(name string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, booted := s.userData[name]
	return text, booted
}

// Boots returns how often the machine of a name has booted.
func (s *Simulator) Boots(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.boots[name]
}

// Stop ends the platform and its machines.
func (s *Simulator) Stop() error {
	err := s.API.Stop()
	s.datacenter.Close()
	return err
}

// Credentials returns the data of a ProviderConfig's Secret.
func (s *Simulator) Credentials() (map[string][]byte, error) {
	data := map[string][]byte{}
	var errs []error
	for key, file := range s.API.Credentials() {
		value, err := os.ReadFile(file)
		data[key], errs = value, append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("credentials of the simulated platform: %w", err)
	}
	return data, nil
}

// Agents implements providertest.AgentOperator.
func (s *Simulator) Agents() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer clear(s.agents)
	return slices.Sorted(maps.Keys(s.agents))
}

func (s *Simulator) observe(r *http.Request, call fault.Call) {
	if s.options.Observe != nil {
		s.options.Observe(r, call)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agents[r.UserAgent()] = true
}
