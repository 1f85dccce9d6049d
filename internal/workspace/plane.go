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
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/config/admission"
	"github.com/butlerdotdev/butler/config/crd"
	"github.com/butlerdotdev/butler/internal/controller/program"
	"github.com/butlerdotdev/butler/internal/lock"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/guest"
	"github.com/butlerdotdev/butler/internal/plane/kind"
)

// Plane is the API server that holds the objects of a cluster while it is not in charge
// of itself.
type Plane interface {
	// Config is that of an administrator.
	Config() *rest.Config
	// KubeconfigPath is the file with the same.
	KubeconfigPath() string
	// Done is closed when the plane may not be used any more; Err then returns why.
	Done() <-chan struct{}
	Err() error
	// Stop ends the use of the plane, and leaves the objects.
	Stop() error
}

// OpenOptions are those of Open.
type OpenOptions struct {
	// Holder names the command to others.
	Holder string
	// Quota is how many bytes the store of an embedded plane may take; 0 is the usual.
	Quota int64
	// Engine runs KIND clusters; nil is KIND's library.
	Engine kind.Engine
}

// Open starts the workspace's plane, or connects to it. No other command can do so until
// the plane is stopped.
func (w Workspace) Open(ctx context.Context, o OpenOptions) (Plane, error) {
	var p Plane
	var err error
	switch w.Plane().Kind {
	case Guest:
		p, err = guest.Open(ctx, w.guestOptions(o.Holder))
	case Kind:
		p, err = kind.Open(ctx, w.kindOptions(o.Holder, o.Engine))
	case Embedded:
		p, err = OpenPlane(ctx, plane.Options{Dir: w.PlaneDir(), Holder: o.Holder, Quota: o.Quota})
	}
	if err != nil {
		return nil, err // p is not nil, but holds a nil pointer
	}
	return p, nil
}

// reading marks holders of a plane that release it in a moment.
const reading = "butleradm (reading)"

// onlyReads reports whether the holder of a plane releases it in a moment.
func onlyReads(h lock.Holder) bool { return strings.HasPrefix(h.Name, reading) }

// Holder names the process that works on the cluster; it is empty if none does.
func (w Workspace) Holder() string {
	h, held := lock.Held(w.PlaneDir())
	if !held || onlyReads(h) {
		return ""
	}
	return h.Name
}

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
		if h, held := lock.Held(o.Dir); !errors.Is(err, lock.ErrHeld) || held && !onlyReads(h) {
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
	if w.Plane().Kind != Embedded {
		return w.readElsewhere(ctx, f)
	}
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

// readElsewhere reads from a plane that is there without any command.
func (w Workspace) readElsewhere(ctx context.Context, f func(client.Client) error) error {
	config, err := w.reach(ctx)
	if err != nil {
		return err
	}
	c, err := w.NewPlaneClient(config)
	if err != nil {
		return err
	}
	return f(c)
}

func (w Workspace) reach(ctx context.Context) (*rest.Config, error) {
	if w.Plane().Kind == Kind {
		return kind.Reach(ctx, w.kindOptions(reading, nil))
	}
	return guest.Reach(ctx, w.guestOptions(reading))
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

// NewPlaneClient returns a client of the workspace's plane. On a plane of the user it
// sees, of what has a namespace, that of the cluster alone.
func (w Workspace) NewPlaneClient(config *rest.Config) (client.WithWatch, error) {
	scheme, err := program.Scheme()
	if err != nil {
		return nil, err
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if r := w.Plane(); err == nil && r.OfUser() {
		return limited{client.NewNamespacedClient(c, r.Namespace), c}, nil
	}
	return c, err
}

// limited is a client of one namespace. Those who watch name the namespace themselves.
type limited struct {
	client.Client
	watcher client.WithWatch
}

// Watch watches a list.
func (l limited) Watch(ctx context.Context, list client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
	return l.watcher.Watch(ctx, list, options...)
}

// unreachable reports whether an API server is not there, or not there yet.
func unreachable(err error) bool {
	var network *net.OpError
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) ||
		meta.IsNoMatchError(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsForbidden(err)
}
