// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/butlerdotdev/butler/internal/controller/clusterbootstrap"
	"github.com/butlerdotdev/butler/internal/controller/program"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/serve"
)

// controllers are those of the local plane while they work.
type controllers struct {
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // of their end, once ended is closed
}

// start sets the controllers of the local plane to work.
func (o *operation) start(p provider.Provider) error {
	ctx, cancel := context.WithCancel(o.ctx)
	m, err := o.manager(ctx, p)
	if err != nil {
		cancel()
		return err
	}
	c := &controllers{cancel: cancel, ended: make(chan struct{})}
	o.controllers = c
	o.group.Go(func() error {
		defer close(c.ended)
		c.err = m.Start(ctx)
		return c.err
	})
	return nil
}

// manager has all controllers of the local plane.
func (o *operation) manager(ctx context.Context, p provider.Provider) (manager.Manager, error) {
	m, err := manager.New(o.plane.Config(), manager.Options{
		Scheme:     o.local.Scheme(),
		NewCache:   program.NewCache(ctx),
		Metrics:    server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		return nil, err
	}
	addons, err := o.source()
	if err != nil {
		return nil, err
	}
	if err := clusterbootstrap.Register(m, clusterbootstrap.Options{Dial: o.dial(), Addons: addons, Clock: o.hooks.Clock}); err != nil {
		return nil, err
	}
	return m, serve.Register(m, p, serve.Options{Transport: o.transport(), Clock: o.hooks.Clock})
}

// resume sets the controllers to work that are not at work already.
func (o *operation) resume(p provider.Provider) error {
	if o.controllers != nil {
		return nil
	}
	return o.start(p)
}

// quiesce ends the controllers of the local plane, and returns when the last of
// them has.
func (o *operation) quiesce(ctx context.Context) error {
	c := o.controllers
	if c == nil {
		return nil
	}
	c.cancel()
	select {
	case <-c.ended:
		o.controllers = nil
		return c.err
	case <-ctx.Done():
		return errors.New("the controllers of the local plane do not end")
	}
}
