// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/config/admission"
	"github.com/butlerdotdev/butler/config/crd"
	"github.com/butlerdotdev/butler/internal/controller/program"
	"github.com/butlerdotdev/butler/internal/lock"
	"github.com/butlerdotdev/butler/internal/plane"
)

// reading marks holders of a plane that release it in a moment.
const reading = "butleradm (reading)"

// OnlyReads reports whether the holder of a plane releases it in a moment.
func OnlyReads(h lock.Holder) bool { return strings.HasPrefix(h.Name, reading) }

// OpenPlane starts a plane with the kinds of this project. It waits for
// a process that only reads.
func OpenPlane(ctx context.Context, o plane.Options) (_ *plane.Plane, err error) {
	if o.Definitions, err = crd.All(); err != nil {
		return nil, err
	}
	o.Controllers = []string{"garbage-collector-controller", "namespace-controller"}
	o.AdmissionOff = []string{"ServiceAccount"}
	p, err := startPlane(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := admission.Apply(ctx, p.Config()); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

func startPlane(ctx context.Context, o plane.Options) (*plane.Plane, error) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		p, err := plane.Start(ctx, o)
		if h, held := lock.Held(o.Dir); !errors.Is(err, lock.ErrHeld) || held && !OnlyReads(h) {
			return p, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}

// ReadPlane calls f with a client of the workspace's plane: the one that runs, else
// one that is started for the moment.
func (w Workspace) ReadPlane(ctx context.Context, f func(client.Client) error) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := w.readOnce(ctx, f)
		if _, gone := errors.AsType[*planeGone](err); !gone {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

// planeGone is the error of reading from a plane that another process has stopped,
// or has only begun to start.
type planeGone struct{ error }

func (w Workspace) readOnce(ctx context.Context, f func(client.Client) error) error {
	definitions, err := crd.All()
	if err != nil {
		return err
	}
	p, err := plane.Start(ctx, plane.Options{Dir: w.PlaneDir(), Holder: reading, Definitions: definitions})
	if errors.Is(err, lock.ErrHeld) {
		return w.readOther(f)
	}
	if err != nil {
		return err
	}
	c, err := NewClient(p.Config())
	if err == nil {
		err = f(c)
	}
	return errors.Join(err, p.Stop())
}

// readOther reads from the plane that another process runs.
func (w Workspace) readOther(f func(client.Client) error) error {
	config, err := clientcmd.BuildConfigFromFlags("", w.PlaneDir()+"/kubeconfig")
	if err != nil {
		return &planeGone{err}
	}
	c, err := NewClient(config)
	if err == nil {
		err = f(c)
	}
	if unreachable(err) {
		return &planeGone{err}
	}
	return err
}

// NewClient returns a client for the kinds of this project.
func NewClient(config *rest.Config) (client.Client, error) {
	scheme, err := program.Scheme()
	if err != nil {
		return nil, err
	}
	return client.New(config, client.Options{Scheme: scheme})
}

// unreachable reports whether an API server is not there, or not there yet.
func unreachable(err error) bool {
	var network *net.OpError
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) ||
		meta.IsNoMatchError(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsForbidden(err)
}
