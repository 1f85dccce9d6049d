// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package guest uses a cluster of the user as a plane. A cluster of this project has one
// namespace there. Everything else on the plane is the user's: it is not changed, and
// nothing is deleted but what was created in that namespace for the cluster.
package guest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/butlerdotdev/butler/internal/lock"
)

// Options name the namespace of a cluster on a plane.
type Options struct {
	// Dir is the directory of the plane's kubeconfig; it is locked meanwhile.
	Dir string
	// Cluster is the identity of the user's cluster.
	Cluster string
	// Namespace has all objects of the cluster.
	Namespace string
	// ID is that of the state directory which the namespace is claimed for.
	ID string
	// Holder names this process to others.
	Holder string

	leaseTime time.Duration // another than the usual one, in tests
}

// KubeconfigPath is the kubeconfig of a plane with this directory.
func KubeconfigPath(dir string) string { return filepath.Join(dir, "kubeconfig") }

// Plane is a user's cluster that this process works on.
type Plane struct {
	options Options
	config  *rest.Config
	lock    *lock.Lock
	stop    context.CancelFunc // of the lease
	left    <-chan struct{}    // the lease is released
	done    chan struct{}
	ended   sync.Once
	failure error
}

// Open prepares a namespace of the plane for this process alone: kinds and policies that
// are missing are created, the namespace is claimed, and its lease is taken.
func Open(ctx context.Context, o Options) (*Plane, error) {
	l, err := lock.Acquire(ctx, o.Dir, o.Holder)
	if err != nil {
		return nil, err
	}
	p := &Plane{options: o, lock: l, done: make(chan struct{})}
	if err := p.prepare(ctx); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

func (p *Plane) prepare(ctx context.Context) (err error) {
	if p.config, err = Reach(ctx, p.options); err != nil {
		return err
	}
	if err := refuseControllers(ctx, p.config); err != nil {
		return err
	}
	if err := ensureKinds(ctx, p.config); err != nil {
		return fmt.Errorf("prepare the plane %s: %w", p.config.Host, err)
	}
	if err := p.options.claim(ctx, p.config); err != nil {
		return err
	}
	return p.hold(ctx)
}

// Config returns the configuration of the user's kubeconfig.
func (p *Plane) Config() *rest.Config { return rest.CopyConfig(p.config) }

// KubeconfigPath is the file with the user's kubeconfig, as it was when it was recorded.
func (p *Plane) KubeconfigPath() string { return KubeconfigPath(p.options.Dir) }

// Done is closed when the plane may not be used any more: it was stopped, or its lease
// is lost.
func (p *Plane) Done() <-chan struct{} { return p.done }

// Err returns why the plane has ended without Stop.
func (p *Plane) Err() error {
	select {
	case <-p.done:
		return p.failure
	default:
		return nil
	}
}

// Stop releases lease and lock, and leaves the plane as it is.
func (p *Plane) Stop() error {
	p.end(nil)
	if p.stop != nil {
		p.stop()
		<-p.left
	}
	return p.lock.Release()
}

func (p *Plane) end(cause error) {
	p.ended.Do(func() {
		p.failure = cause
		close(p.done)
	})
}
