// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package inmemory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// link is one connection to the platform.
type link struct {
	p      *Platform
	config provider.Config
	login  int
}

// logIn begins the life of a connection, which Expire ends.
func (l *link) logIn() {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	l.login = l.p.logins
}

// there is the connection as far as it reaches at this moment.
func (l *link) there() *link {
	l.p.mu.Lock()
	to, moved := l.p.elsewhere, l.p.moved
	l.p.mu.Unlock()
	if !moved {
		return l
	}
	moving := &link{p: to, config: l.config}
	moving.logIn()
	return moving
}

// identify reads the identity of the platform that answers.
func (l *link) identify(ctx context.Context) (provider.Identity, error) {
	l = l.there()
	if err := l.reach(ctx, Identify, "identify the in-memory platform"); err != nil {
		return "", err
	}
	return l.p.options.Identity, nil
}

// admit notes who calls, and refuses credentials that are not accepted any more.
func (l *link) admit(what string) error {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	l.p.agents[l.config.Transport.Agent]++
	revoked := l.p.accepted != "" && string(l.config.Credentials.Get(v1alpha1.KeyKubeconfig)) != l.p.accepted
	if !revoked && l.login == l.p.logins {
		return nil
	}
	return provider.Unauthorized.New(what, provider.ReasonCredentialsRefused, errors.New("the credentials are not valid any more"), "renew them")
}

// linkedMachines are the machines as a connection reaches them.
type linkedMachines struct{ *link }

// Observe implements provider.Machines.
func (l *linkedMachines) Observe(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
	l = &linkedMachines{l.there()}
	if err := l.reach(ctx, Observe, "observe machine "+ref.Name); err != nil {
		return provider.Machine{}, err
	}
	return l.p.Observe(ctx, ref)
}

// Create implements provider.Machines.
func (l *linkedMachines) Create(ctx context.Context, s provider.MachineSpec) (provider.Machine, error) {
	l = &linkedMachines{l.there()}
	op := fmt.Sprintf("create machine %q", s.Name)
	if err := l.reach(ctx, Create, op); err != nil {
		return provider.Machine{}, err
	}
	if err := l.checkNetwork(op); err != nil {
		return provider.Machine{}, err
	}
	return l.p.Create(ctx, s)
}

// Delete implements provider.Machines.
func (l *linkedMachines) Delete(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
	l = &linkedMachines{l.there()}
	if err := l.reach(ctx, Delete, "delete machine "+ref.Name); err != nil {
		return provider.Machine{}, err
	}
	return l.p.Delete(ctx, ref)
}

// List implements provider.Machines.
func (l *linkedMachines) List(ctx context.Context, o provider.Owner) ([]provider.Machine, error) {
	l = &linkedMachines{l.there()}
	if err := l.reach(ctx, List, "list machines"); err != nil {
		return nil, err
	}
	return l.p.List(ctx, o)
}

// observeAll is the ObserveAll of a connection.
func (l *linkedMachines) observeAll(ctx context.Context) ([]provider.Machine, error) {
	l = &linkedMachines{l.there()}
	if err := l.reach(ctx, List, "list machines"); err != nil {
		return nil, err
	}
	return l.p.ObserveAll(ctx)
}

// reach waits out a silence and passes over the wire, if there is one.
func (l *link) reach(ctx context.Context, op Op, what string) error {
	l.p.mu.Lock()
	wait := l.p.silent[op]
	l.p.mu.Unlock()
	if wait != nil {
		l.p.waiting.Add(1)
		defer l.p.waiting.Add(-1)
		select {
		case <-wait:
		case <-ctx.Done():
			return &provider.Error{Kind: provider.Unavailable, Reason: "Cancelled", Op: what, Err: ctx.Err()}
		}
	}
	if l.p.options.Wire {
		if err := l.exchange(ctx); err != nil {
			return provider.Unavailable.New(what, provider.ReasonPlatformUnreachable, err, "")
		}
	}
	return l.admit(what)
}

// exchange sends a byte and waits for it to come back.
func (l *link) exchange(ctx context.Context) error {
	conn, err := l.config.Transport.Dial(ctx, "tcp", "in-memory.example:1")
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Write([]byte{1}); err != nil {
		return err
	}
	_, err = io.ReadFull(conn, make([]byte, 1))
	return err
}

// Dial is the platform's end of the wire: the DialContext of a Transport.
func (p *Platform) Dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	go func() {
		defer far.Close()
		_, _ = io.Copy(far, far)
	}()
	return near, nil
}

func (l *link) checkNetwork(op string) error {
	known := l.p.options.Networks
	if known == nil || l.config.ProviderConfig == nil {
		return nil
	}
	if name := l.config.Spec.NetworkName(); name != "" && !slices.Contains(known, name) {
		return missing(op, provider.ReasonNetworkNotFound, "network", name)
	}
	return nil
}

// refuse refuses what the platform does not have or cannot do.
func (p *Platform) refuse(op string, s provider.MachineSpec) error {
	if p.options.Images != nil && s.Image != "" && !slices.Contains(p.options.Images, s.Image) {
		return missing(op, provider.ReasonImageNotFound, "image", s.Image)
	}
	if p.options.NoAddresses {
		if err := provider.RefuseAddress(op, "in-memory", s); err != nil {
			return err
		}
	}
	if p.options.NoNetworkData && s.NetworkData != "" {
		return provider.Invalid.New(op, provider.ReasonFieldUnsupported, errors.New("this platform takes no network data"), "remove networkData")
	}
	return nil
}

func missing(op, reason, what, name string) error {
	return provider.Invalid.New(op, reason, fmt.Errorf("%s %q not found", what, name), "create it or name another one")
}
