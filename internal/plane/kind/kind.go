// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package kind uses a KIND cluster as a plane, which it creates and which is used for
// nothing else.
package kind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/butlerdotdev/butler/config/admission"
	"github.com/butlerdotdev/butler/config/crd"
	"github.com/butlerdotdev/butler/internal/lock"
	"github.com/butlerdotdev/butler/internal/plane"
)

// longestName is how much of a cluster's name is in that of its KIND cluster: nodes
// have longer names, which must be host names.
const longestName = 30

// answersWithin is how long the API server of a KIND cluster that runs has to answer.
const answersWithin = time.Minute

// Name returns the name of the KIND cluster for a cluster of this project.
func Name(cluster, id string) string {
	return "butler-" + cluster[:min(len(cluster), longestName)] + "-" + id[:8]
}

// KubeconfigPath is the kubeconfig of a plane with this directory. The file exists once
// the KIND cluster does.
func KubeconfigPath(dir string) string { return filepath.Join(dir, "kubeconfig") }

// Options name a KIND cluster.
type Options struct {
	// Dir is the directory of the plane's kubeconfig; it is locked meanwhile.
	Dir string
	// Name of the KIND cluster.
	Name string
	// Engine runs it.
	Engine Engine
	// Holder names this process to others.
	Holder string
}

// Plane is a KIND cluster that this process works on.
type Plane struct {
	options Options
	config  *rest.Config
	lock    *lock.Lock
	done    chan struct{}
	ended   sync.Once
}

// Open connects to the KIND cluster, and creates it the first time.
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

func (p *Plane) prepare(ctx context.Context) error {
	if err := until(ctx, p.options.ensure); err != nil {
		return err
	}
	var err error
	if p.config, err = Reach(ctx, p.options); err != nil {
		return err
	}
	kinds, err := crd.All()
	if err != nil {
		return err
	}
	if err := plane.Define(ctx, p.config, kinds); err != nil {
		return err
	}
	return admission.Apply(ctx, p.config)
}

// until returns when f has, or the context has ended: the library cannot be interrupted.
// What it leaves is removed by the next Open.
func until(ctx context.Context, f func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- f() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// ensure creates the KIND cluster unless it exists. One without its kubeconfig is left of
// a creation that was interrupted. One that is gone is not recreated: what it knew is
// lost.
func (o Options) ensure() error {
	exists, err := o.Engine.Exists(o.Name)
	if err != nil {
		return err
	}
	_, missing := os.Stat(KubeconfigPath(o.Dir))
	switch {
	case exists && missing == nil:
	case missing == nil:
		return fmt.Errorf("the KIND cluster %s is gone, and with it what it knew of the platform; find that by its tags: butleradm destroy -c FILE --orphans", o.Name)
	case exists:
		err = o.Engine.Delete(o.Name)
		fallthrough
	default:
		if err == nil {
			err = o.Engine.Create(o.Name)
		}
	}
	if err != nil {
		return fmt.Errorf("create the KIND cluster %s: %w", o.Name, err)
	}
	kubeconfig, err := o.Engine.Kubeconfig(o.Name)
	if err != nil {
		return fmt.Errorf("connect to the KIND cluster %s: %w; %s", o.Name, err, o.startHint())
	}
	return plane.WriteFile(KubeconfigPath(o.Dir), kubeconfig)
}

// startHint says what to do about a node that was stopped.
func (o Options) startHint() string {
	return fmt.Sprintf("start its containers, for example: docker start %s-control-plane", o.Name)
}

// Reach returns the configuration of a client for a KIND cluster that exists, and waits
// until that answers.
func Reach(ctx context.Context, o Options) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", KubeconfigPath(o.Dir))
	if err != nil {
		return nil, err
	}
	config.QPS = -1 // it is on this machine
	api, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	for {
		err := api.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
		if err == nil {
			return config, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the KIND cluster %s does not answer: %w; %s", o.Name, err, o.startHint())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Release deletes the KIND cluster with everything on it.
func Release(o Options) error {
	if _, err := os.Stat(KubeconfigPath(o.Dir)); errors.Is(err, os.ErrNotExist) {
		exists, err := o.Engine.Exists(o.Name)
		if err != nil {
			return fmt.Errorf("look for the KIND cluster %s: %w", o.Name, err)
		}
		if !exists {
			return nil // it was never created
		}
	}
	if err := o.Engine.Delete(o.Name); err != nil {
		return fmt.Errorf("delete the KIND cluster %s: %w", o.Name, err)
	}
	return nil
}

// Config returns the configuration of an administrator.
func (p *Plane) Config() *rest.Config { return rest.CopyConfig(p.config) }

// KubeconfigPath is the file with the administrator's kubeconfig.
func (p *Plane) KubeconfigPath() string { return KubeconfigPath(p.options.Dir) }

// Done is closed when the plane was stopped: the KIND cluster runs without this process.
func (p *Plane) Done() <-chan struct{} { return p.done }

// Err is nil: the plane does not end by itself.
func (*Plane) Err() error { return nil }

// Stop releases the lock, and leaves the KIND cluster running.
func (p *Plane) Stop() error {
	p.ended.Do(func() { close(p.done) })
	return p.lock.Release()
}
