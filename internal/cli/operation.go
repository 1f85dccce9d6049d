// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/butlerdotdev/butler/internal/controller/program"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/sim/network"
	"github.com/butlerdotdev/butler/internal/version"
	"github.com/butlerdotdev/butler/internal/workspace"
	"github.com/butlerdotdev/butler/provider"
)

// operation is a cluster's plane with all controllers at work on it.
type operation struct {
	workspace.Workspace
	hooks    Hooks
	plane    *plane.Plane
	platform sim.Info // of a rehearsal
	charts   string   // where addons come from, as the user says
	// local is the plane on this machine, and client the one that is in charge of
	// the cluster: the same, or the cluster itself.
	local, client client.WithWatch
	controllers   *controllers // of the local plane, while they work
	unheard       func(error)  // if set, told when the plane in charge does not answer
	group         *errgroup.Group
	ctx           context.Context // ends when a part of the operation does
	cancel        context.CancelFunc
	logFile       *os.File
}

// dial opens all connections to the platform, the nodes and the new cluster.
// A rehearsal knows the simulated network and no other.
func (o *operation) dial() func(ctx context.Context, network, addr string) (net.Conn, error) {
	if o.Rehearsal {
		return network.Dialer(o.platform.Proxy)
	}
	return (&net.Dialer{}).DialContext
}

// open starts the plane of a workspace. The operation has to be closed.
func (a App) open(ctx context.Context, w workspace.Workspace, holder string) (*operation, error) {
	o := &operation{Workspace: w, hooks: a.Hooks}
	err := o.openLog()
	if err != nil {
		return nil, err
	}
	if o.plane, err = workspace.OpenPlane(ctx, plane.Options{Dir: w.PlaneDir(), Holder: holder, Quota: a.Hooks.Quota}); err == nil {
		err = o.connect(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, o.close())
	}
	return o, nil
}

func (o *operation) connect(ctx context.Context) error {
	scheme, err := program.Scheme()
	if err != nil {
		return err
	}
	if o.local, err = client.NewWithWatch(o.plane.Config(), client.Options{Scheme: scheme}); err != nil {
		return err
	}
	o.client = o.local
	ctx, o.cancel = context.WithCancel(ctx)
	o.group, o.ctx = errgroup.WithContext(ctx)
	o.group.Go(func() error {
		select {
		case <-o.plane.Done():
			return o.plane.Err()
		case <-o.ctx.Done():
			return nil
		}
	})
	return nil
}

func (o *operation) transport() provider.Transport {
	return provider.Transport{DialContext: o.dial(), Agent: agent}
}

// agent is how platforms know this process.
var agent = version.Agent("butleradm")

// close ends controllers and plane, in this order, and leaves everything else
// as it is.
func (o *operation) close() error {
	var err error
	if o.cancel != nil {
		o.cancel()
		err = o.group.Wait()
	}
	if o.plane != nil {
		err = errors.Join(err, o.plane.Stop())
	}
	return errors.Join(err, o.logFile.Close())
}

// openLog sends what the controllers log to a file: the terminal is for people.
func (o *operation) openLog() (err error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return err
	}
	if err := shorten(o.LogFile(), longestLog); err != nil {
		return err
	}
	o.logFile, err = os.OpenFile(o.LogFile(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	handler := slog.NewTextHandler(o.logFile, nil)
	ctrllog.SetLogger(logr.FromSlogHandler(handler))
	klog.SetSlogLogger(slog.New(handler))
	slog.SetDefault(slog.New(handler)) // Helm has a few words to say, too
	return nil
}
