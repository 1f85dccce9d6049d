// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package operation works on one cluster from this machine: it opens the local plane,
// runs the controllers on it, asks the platform before the first machine, applies a
// manifest and watches what becomes of it.
package operation

import (
	"context"
	"errors"
	"net"
	"os"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/sim/network"
	"github.com/butlerdotdev/butler/internal/version"
	"github.com/butlerdotdev/butler/internal/workspace"
	"github.com/butlerdotdev/butler/provider"
)

// Operation is the work of one command on one cluster: the local plane, the controllers
// that run on it, and which plane is in charge.
type Operation struct {
	workspace.Workspace
	Hooks Hooks
	// Simulator is the simulated platform of a rehearsal.
	Simulator sim.Info
	// Charts is where addons come from, as the user says.
	Charts string
	// AcceptExpiring lets a cluster take over credentials that end by themselves.
	AcceptExpiring bool
	// Local is the client of the plane on the operator's side; nil without one.
	Local client.WithWatch
	// Images is a file with the images of the controllers, for a KIND cluster.
	Images string
	// Report, if set, is called with what the operation waits for.
	Report func(string)
	// OnSilence, if set, is called when the plane in charge does not answer.
	OnSilence func(error)

	plane workspace.Plane
	// charge is the plane in charge, and ofCluster the client of the cluster if that is.
	charge    Plane
	ofCluster client.WithWatch
	// running are the controllers of the local plane; nil if none run. deployed says that
	// they run as Deployments there instead.
	running  *controllers
	deployed bool
	group    *errgroup.Group
	ctx      context.Context // ends when a part of the operation does
	cancel   context.CancelFunc
	logFile  *os.File
}

// Dial returns the dialer of all connections to the platform, the nodes and the new
// cluster. A rehearsal knows the simulated network and no other.
func (o *Operation) Dial() func(ctx context.Context, network, addr string) (net.Conn, error) {
	if o.Rehearsal {
		return network.Dialer(o.Simulator.Proxy)
	}
	return (&net.Dialer{}).DialContext
}

// Open starts the plane of a workspace. The operation has to be closed.
func Open(ctx context.Context, w workspace.Workspace, h Hooks, holder string) (*Operation, error) {
	o := New(ctx, w, h)
	err := o.openLog()
	if err != nil {
		return nil, err
	}
	if o.plane, err = w.Open(ctx, workspace.OpenOptions{Holder: holder, Quota: h.Quota, Engine: h.Engine}); err == nil {
		err = o.connect(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// New returns an operation without a plane, for commands that only ask.
func New(ctx context.Context, w workspace.Workspace, h Hooks) *Operation {
	return &Operation{Workspace: w, Hooks: h, ctx: ctx}
}

// Context ends when a part of the operation does.
func (o *Operation) Context() context.Context { return o.ctx }

// KubeconfigPath is the kubeconfig of the local plane.
func (o *Operation) KubeconfigPath() string { return o.plane.KubeconfigPath() }

func (o *Operation) connect(ctx context.Context) error {
	var err error
	if o.Local, err = o.NewPlaneClient(o.plane.Config()); err != nil {
		return err
	}
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

// Transport returns the transport of connections to the platform.
func (o *Operation) Transport() provider.Transport {
	t := provider.Transport{DialContext: o.Dial(), Agent: agent}
	if o.Rehearsal {
		t.RootCAs = o.Simulator.RootCAs()
	}
	return t
}

// agent is how platforms know this process.
var agent = version.Agent("butleradm")

// Close ends controllers and plane, in this order, and leaves everything else
// as it is.
func (o *Operation) Close() error {
	err := o.closeDeployed()
	if o.cancel != nil {
		o.cancel()
		err = errors.Join(err, o.group.Wait())
	}
	if o.plane != nil {
		err = errors.Join(err, o.plane.Stop())
	}
	if o.logFile != nil {
		err = errors.Join(err, o.logFile.Close())
	}
	return err
}
