// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package sim runs a simulated platform as a process of its own: machines, a
// network, and the façade of the platform's API. It is the far side of the
// wire and knows neither drivers nor controllers.
package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/lock"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/harvester"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

// Options say what to simulate, and where.
type Options struct {
	// Dir holds all state; a second start goes on with it.
	Dir string
	// Provider whose platform is simulated.
	Provider v1alpha1.ProviderType
	// Executable has the components of a control plane inside; empty means the
	// running one.
	Executable string
	Setup      Setup
	Log        *slog.Logger
}

// Info tells how to reach a simulated platform that runs.
type Info struct {
	Provider v1alpha1.ProviderType `json:"provider"`
	// Kubeconfig is the file with the credentials of the platform's user.
	Kubeconfig string `json:"kubeconfig"`
	// Admin is the file with those of the platform's administrator.
	Admin string `json:"admin"`
	// Proxy is the address of the SOCKS5 server of the simulated network.
	Proxy string `json:"proxy"`
	// CA is the file with the authority of the servers that stand in for chart
	// repositories and registries; empty where there are none.
	CA    string `json:"ca,omitempty"`
	Setup Setup  `json:"setup"`
	// Control is where SetFaults and Left ask. It is a secret.
	Control string `json:"control"`
	// PID of the process that wrote this: an older file tells nothing.
	PID int `json:"pid"`
}

// Run simulates until ctx ends. It calls ready once everything answers.
func Run(ctx context.Context, o Options, ready func(Info)) error {
	if o.Provider != v1alpha1.ProviderHarvester {
		return fmt.Errorf("no simulator for provider %q", o.Provider)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return err
	}
	held, err := lock.Acquire(ctx, o.Dir, "butleradm sim "+string(o.Provider))
	if err != nil {
		return err
	}
	err = o.run(ctx, ready)
	return errors.Join(err, forget(o.Dir), held.Release())
}

func (o Options) run(ctx context.Context, ready func(Info)) (err error) {
	profile, err := datacenter.ProfileNamed(o.Setup.Profile)
	if err != nil {
		return err
	}
	net, socks, err := o.openNetwork()
	if err != nil {
		return err
	}
	defer socks.Close()
	faults := fault.NewCourse(o.Setup.Faults)
	ca, closeRegistry, err := o.openRegistry(ctx, net, faults)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeRegistry()) }()
	auditor, err := o.openAuditor()
	if err != nil {
		return err
	}
	w := world{network: net, proxy: socks.Addr().String(), ca: ca, profile: profile, faults: faults, auditor: auditor}
	dc, err := o.openDatacenter(w)
	if err != nil {
		return err
	}
	defer dc.Close()
	h, err := harvester.Start(ctx, harvester.Options{
		Dir: o.Dir, Executable: o.Executable, Datacenter: dc, Network: net, Seed: o.Setup.Seed.Harvester,
		Create: profile.Create, Faults: faults, Auditor: auditor, Log: o.Log,
	})
	if err != nil {
		return err
	}
	info := Info{o.Provider, h.Kubeconfig(), h.AdminKubeconfig(), w.proxy, w.ca, o.Setup, "", os.Getpid()}
	return errors.Join(o.answer(ctx, w, h, info, ready), h.Stop())
}

// answer has the platform answer until ctx or the platform ends.
func (o Options) answer(ctx context.Context, w world, h *harvester.Harvester, i Info, ready func(Info)) error {
	c, err := openControl(w.faults, h.Prepare, w.auditor, o.Log)
	if err != nil {
		return err
	}
	defer c.close()
	i.Control = c.url
	if err := remember(o.Dir, i); err != nil {
		return err
	}
	ready(i)
	return until(ctx, h)
}

func until(ctx context.Context, h *harvester.Harvester) error {
	ended := make(chan error, 1)
	go func() { ended <- h.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return nil
	}
}

// openNetwork serves the simulated network at the port of the last start if it
// is free: kubeconfigs that were handed out name it.
func (o Options) openNetwork() (*network.Network, net.Listener, error) {
	file := filepath.Join(o.Dir, "proxy")
	last, err := os.ReadFile(file)
	if err != nil {
		last = []byte("127.0.0.1:0")
	}
	l, err := net.Listen("tcp4", string(last))
	if err != nil {
		l, err = net.Listen("tcp4", "127.0.0.1:0")
	}
	if err != nil {
		return nil, nil, err
	}
	n := network.New()
	go func() {
		if err := n.ServeSOCKS(l); err != nil {
			o.Log.Error("simulated network ended", "err", err)
		}
	}()
	return n, l, plane.WriteFile(file, []byte(l.Addr().String()))
}

func infoPath(dir string) string { return filepath.Join(dir, "sim.json") }

func remember(dir string, i Info) error {
	data, err := json.Marshal(i)
	if err != nil {
		return err
	}
	return plane.WriteFile(infoPath(dir), data)
}

func forget(dir string) error {
	if err := os.Remove(infoPath(dir)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
