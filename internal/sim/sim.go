// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package sim runs a simulated platform as a process of its own: machines, a
// network, and the façade of the platform's API. It is the far side of the
// wire and knows neither drivers nor controllers.
package sim

import (
	"context"
	"crypto/x509"
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
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/front"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

// Options say what to simulate, and where.
type Options struct {
	// Dir holds all state; a second start continues with it.
	Dir string
	// Platform is the one that is simulated.
	Platform facade.Platform
	// Executable has the components of a control plane inside; empty means the
	// running one.
	Executable string
	Setup      Setup
	Log        *slog.Logger
}

// Info describes how a running simulated platform is reached.
type Info struct {
	Provider v1alpha1.ProviderType `json:"provider"`
	// Credentials of the platform's user: the keys of a ProviderConfig's Secret, each
	// with the file that holds its value.
	Credentials map[string]string `json:"credentials"`
	// Admin is the file with the access of the platform's administrator.
	Admin string `json:"admin"`
	// Proxy is the address of the SOCKS5 server of the simulated network, as the
	// operator's machine sees it.
	Proxy string `json:"proxy"`
	// CA is the file with the authority of all servers of the simulated network: the
	// platform's own, and those of charts and registries.
	CA    string `json:"ca"`
	Setup Setup  `json:"setup"`
	// Control is where SetFaults and Left ask. It is a secret.
	Control string `json:"control"`
	// PID of the process that wrote this: an older file is ignored.
	PID int `json:"pid"`
}

// Secret returns the data of a ProviderConfig's Secret for the platform.
func (i Info) Secret() (map[string][]byte, error) {
	data := map[string][]byte{}
	for key, file := range i.Credentials {
		value, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read the credentials of the simulated platform: %w", err)
		}
		data[key] = value
	}
	return data, nil
}

// RootCAs returns the authority of the simulated network. If its file cannot be read,
// no server is trusted.
func (i Info) RootCAs() *x509.CertPool {
	pool, err := RootCAs(i.CA)
	if err != nil {
		return x509.NewCertPool()
	}
	return pool
}

// RootCAs returns the authority that the file of Info.CA holds.
func RootCAs(file string) (*x509.CertPool, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the authority of the simulated platform: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("the authority of the simulated platform: %s holds no certificate", file)
	}
	return pool, nil
}

// Run simulates until ctx ends. It calls ready once everything answers.
func Run(ctx context.Context, o Options, ready func(Info)) error {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return err
	}
	held, err := lock.Acquire(ctx, o.Dir, "butleradm sim "+string(o.Platform.Type))
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
	faults := fault.NewInjector(o.Setup.Faults)
	authority, err := front.OpenAuthority(filepath.Join(o.Dir, "authority"))
	if err != nil {
		return err
	}
	closeRegistry, err := o.openRegistry(ctx, net, faults, authority)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeRegistry()) }()
	auditor, err := o.openAuditor()
	if err != nil {
		return err
	}
	e := environment{network: net, ca: authority.File(), profile: profile, faults: faults, auditor: auditor}
	dc, err := o.openDatacenter(e)
	if err != nil {
		return err
	}
	defer dc.Close()
	api, err := o.Platform.Start(ctx, facade.Options{
		Dir: o.Dir, Executable: o.Executable, Datacenter: dc, Authority: authority, Network: net, Listen: o.Setup.Listen, Seed: o.Setup.Seed.Platform,
		Create: profile.Create, Faults: faults, Auditor: auditor, Log: o.Log,
	})
	if err != nil {
		return err
	}
	info := Info{
		Provider: o.Platform.Type, Credentials: api.Credentials(), Admin: api.Admin(),
		Proxy: socks.Addr().String(), CA: e.ca, Setup: o.Setup, PID: os.Getpid(),
	}
	return errors.Join(o.answer(ctx, e, api, info, ready), api.Stop())
}

// answer has the platform answer until ctx or the platform ends.
func (o Options) answer(ctx context.Context, e environment, api facade.API, i Info, ready func(Info)) error {
	c, err := openControl(e.faults, api.Prepare, e.auditor, o.Log)
	if err != nil {
		return err
	}
	defer c.close()
	i.Control = c.url
	if err := remember(o.Dir, i); err != nil {
		return err
	}
	ready(i)
	return until(ctx, api)
}

func until(ctx context.Context, api facade.API) error {
	ended := make(chan error, 1)
	go func() { ended <- api.Wait() }()
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
	l, err := front.Listen(filepath.Join(o.Dir, "proxy"))
	if err != nil {
		return nil, nil, err
	}
	n := network.New()
	if o.Setup.Routed {
		n.JoinOutside()
	}
	go func() {
		if err := n.ServeSOCKS(l, network.Workstation()); err != nil {
			o.Log.Error("simulated network ended", "err", err)
		}
	}()
	go func() { o.Log.Error("the name server of the simulated network ended", "err", n.ServeNames()) }()
	return n, l, nil
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
