// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/butlerdotdev/butler/internal/controller/clusterbootstrap"
	"github.com/butlerdotdev/butler/internal/controller/ipallocation"
	"github.com/butlerdotdev/butler/internal/controller/program"
	"github.com/butlerdotdev/butler/internal/release"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/serve"
)

// controllers are those of the local plane while they work.
type controllers struct {
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // of their end, once ended is closed
}

// StartControllers sets the controllers of the local plane to work.
func (o *Operation) StartControllers(p provider.Provider) error {
	if o.Deploys() {
		return o.startDeployed(p.Type)
	}
	ctx, cancel := context.WithCancel(o.ctx)
	m, err := o.newManager(ctx, p)
	if err != nil {
		cancel()
		return err
	}
	c := &controllers{cancel: cancel, ended: make(chan struct{})}
	o.running = c
	o.group.Go(func() error {
		defer close(c.ended)
		c.err = m.Start(ctx)
		return c.err
	})
	return nil
}

// newManager has all controllers of the local plane.
func (o *Operation) newManager(ctx context.Context, p provider.Provider) (manager.Manager, error) {
	m, err := manager.New(o.plane.Config(), manager.Options{
		Scheme:     o.Local.Scheme(),
		Cache:      o.cacheOptions(),
		NewCache:   program.NewCache(ctx),
		Metrics:    server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		return nil, err
	}
	addons, err := o.newSource()
	if err != nil {
		return nil, err
	}
	digests, err := release.Digests()
	if err != nil {
		return nil, err
	}
	if err := clusterbootstrap.Register(m, clusterbootstrap.Options{Dial: o.Dial(), Addons: addons, Digests: digests, Clock: o.Hooks.Clock}); err != nil {
		return nil, err
	}
	if err := ipallocation.Register(m, ipallocation.Options{Name: "butleradm", Namespace: o.Plane().Namespace, Clock: o.Hooks.Clock}); err != nil {
		return nil, err
	}
	return m, serve.Register(m, p, serve.Options{Transport: o.Transport(), NoAmbient: o.Rehearsal, Clock: o.Hooks.Clock})
}

// cacheOptions limits the controllers to the namespace of the cluster on a plane of the
// user: what else is there is not theirs.
func (o *Operation) cacheOptions() (out cache.Options) {
	if r := o.Plane(); r.OfUser() {
		out.DefaultNamespaces = map[string]cache.Config{r.Namespace: {}}
	}
	return out
}

// ResumeControllers sets the controllers to work that are not at work already.
func (o *Operation) ResumeControllers(p provider.Provider) error {
	if o.running != nil || o.deployed {
		return nil
	}
	return o.StartControllers(p)
}

// StopControllers ends the controllers of the local plane, and returns when the last of
// them has.
func (o *Operation) StopControllers(ctx context.Context) error {
	if o.Deploys() {
		return o.stopDeployed(ctx)
	}
	c := o.running
	if c == nil {
		return nil
	}
	c.cancel()
	select {
	case <-c.ended:
		o.running = nil
		return c.err
	case <-ctx.Done():
		return errors.New("the controllers of the local plane do not stop")
	}
}
