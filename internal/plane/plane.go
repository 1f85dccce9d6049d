// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package plane runs control planes on this machine: etcd, kube-apiserver and,
// where wanted, kube-controller-manager and kube-scheduler, as child processes
// of the running executable. Nothing is downloaded and nothing listens but on
// loopback. It is the operator's local plane, the API server of tests, and
// what simulated platforms and clusters are made of.
package plane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"

	"github.com/butlerdotdev/butler/internal/lock"
	"github.com/butlerdotdev/butler/internal/pki"
)

// Options say what a plane consists of.
type Options struct {
	// Dir holds all state; it is made with mode 0700.
	Dir string
	// Executable has the components inside, behind the subcommand "component";
	// empty means the running one.
	Executable string
	// Holder is named in the error of a second plane in Dir.
	Holder string
	// Port of the API server; 0 means the port of the last start if it is
	// free, else any.
	Port int
	// PKI is used instead of one that is made once and kept in Dir.
	PKI *PKI
	// Names are further names and addresses in the API server's certificate.
	Names []string
	// ServiceCIDR is the range of service addresses.
	ServiceCIDR string
	// AdmissionOff lists admission plugins to switch off.
	AdmissionOff []string
	// Controllers of kube-controller-manager to run; none means no such process.
	Controllers []string
	// Scheduler says whether kube-scheduler runs.
	Scheduler bool
	// Definitions are served by the time that the plane is ready.
	Definitions []*apiextensionsv1.CustomResourceDefinition
	// Args are further flags of kube-apiserver.
	Args []string
	// Quota is how many bytes the store may take; 0 means the usual 2 GiB.
	Quota int64
}

// Plane is a control plane that runs.
type Plane struct {
	options  Options
	pki      PKI
	lock     *lock.Lock
	listener *net.TCPListener
	children []*child
	config   *rest.Config
	done     chan struct{}
	ended    sync.Once
	failure  error
}

// Start opens the plane in o.Dir, or makes it, and returns when its API server
// is ready. The plane ends with this process, however that ends.
func Start(ctx context.Context, o Options) (*Plane, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	if err := prepareDir(o.Dir); err != nil {
		return nil, err
	}
	l, err := lock.Acquire(ctx, o.Dir, o.Holder)
	if err != nil {
		return nil, err
	}
	p := &Plane{options: o, lock: l, done: make(chan struct{})}
	if err := p.startWhileAlive(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start the plane in %s: %w", o.Dir, err), p.Stop())
	}
	return p, nil
}

// startWhileAlive returns an error as soon as a component has ended.
func (p *Plane) startWhileAlive(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		select {
		case <-p.done:
		case <-ctx.Done():
		}
	}()
	err := p.start(ctx)
	if cause := p.Err(); err != nil && cause != nil {
		return cause
	}
	return err
}

func (o Options) complete() (Options, error) {
	var err error
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return o, err
	}
	if o.Executable == "" {
		if o.Executable, err = os.Executable(); err != nil {
			return o, err
		}
	}
	if o.ServiceCIDR == "" {
		o.ServiceCIDR = "10.96.0.0/12"
	}
	if o.Holder == "" {
		o.Holder = filepath.Base(os.Args[0])
	}
	return o, nil
}

func (p *Plane) start(ctx context.Context) error {
	if err := p.preparePKI(); err != nil {
		return err
	}
	if err := p.listen(); err != nil {
		return err
	}
	files, err := p.issueFiles()
	if err != nil {
		return err
	}
	api, err := p.startServers(ctx, files)
	if err != nil {
		return err
	}
	if err := p.awaitAnswer(ctx, api, serving); err != nil {
		return err
	}
	if err := p.define(ctx); err != nil {
		return err
	}
	if err := p.awaitAnswer(ctx, api, "/readyz"); err != nil {
		return err
	}
	return p.startRest(ctx, files)
}

// startServers starts etcd and the API server, which loads while etcd starts.
func (p *Plane) startServers(ctx context.Context, files certFiles) (api *child, err error) {
	if err := beginStore(p.options.Dir); err != nil {
		return nil, err
	}
	etcd, err := p.launch(ctx, "etcd", p.etcdArgs())
	if err != nil {
		return nil, err
	}
	if api, err = p.launch(ctx, "kube-apiserver", p.apiServerArgs(files)); err != nil {
		return nil, err
	}
	address, err := etcd.ready(ctx)
	if err != nil {
		return nil, err
	}
	if err := storeBegun(p.options.Dir); err != nil {
		return nil, err
	}
	return api, api.send(address)
}

// serving is the question whether the API server does everything but create default
// roles and priority classes. An administrator needs neither.
const serving = "/readyz?exclude=poststarthook/butler-defaults"

func (p *Plane) startRest(ctx context.Context, files certFiles) error {
	if len(p.options.Controllers) > 0 {
		if _, err := p.launch(ctx, "kube-controller-manager", p.controllerManagerArgs(files)); err != nil {
			return err
		}
	}
	if p.options.Scheduler {
		if _, err := p.launch(ctx, "kube-scheduler", p.schedulerArgs(files)); err != nil {
			return err
		}
	}
	return nil
}

// awaitAnswer asks the API server until it says yes: there is nothing to
// subscribe to before that.
func (p *Plane) awaitAnswer(ctx context.Context, api *child, path string) error {
	client, err := rest.HTTPClientFor(p.config)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if answers(ctx, client, p.config.Host+path) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("kube-apiserver is not ready: %w; its log is %s", ctx.Err(), api.log)
		case <-api.ended:
			return api.failure()
		case <-tick.C:
		}
	}
}

// Config returns the configuration of the plane's administrator.
func (p *Plane) Config() *rest.Config { return rest.CopyConfig(p.config) }

// Address returns the address that the API server listens on.
func (p *Plane) Address() string { return p.listener.Addr().String() }

// KubeconfigPath is the file with the administrator's kubeconfig.
func (p *Plane) KubeconfigPath() string { return kubeconfigPath(p.options.Dir) }

// Issue creates credentials for another user.
func (p *Plane) Issue(r pki.Request) (*rest.Config, error) {
	r.Client = true
	pair, err := p.pki.CA.Issue(r)
	if err != nil {
		return nil, err
	}
	return p.clientConfig(pair), nil
}

// Done is closed when the plane has ended, by Stop or because a component
// ended; Err then returns which and why.
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

// Stop ends all components, the store last, and gives the directory free.
func (p *Plane) Stop() error {
	p.end(nil)
	for _, c := range slices.Backward(p.children) {
		c.stop()
	}
	if p.listener != nil {
		_ = p.listener.Close()
	}
	return p.lock.Release()
}

func (p *Plane) end(cause error) {
	p.ended.Do(func() {
		p.failure = cause
		close(p.done)
	})
}
