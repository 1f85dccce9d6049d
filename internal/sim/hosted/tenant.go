// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/rest"

	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/sim/cluster"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

const (
	apiServerPort    = 6443
	konnectivityPort = 8132
	retry            = time.Second
)

// Tenant is a hosted control plane.
type Tenant struct {
	// Services is the network of the tenant's services and pods.
	Services *cluster.Services

	host   *Host
	name   string
	dir    string
	log    *slog.Logger
	ranges sync.Mutex // held to give a node its pod addresses

	mu      sync.Mutex
	changed chan struct{}        // closed, and replaced, with each change
	pods    map[types.UID]string // that run, with the version of their image
	design  *design              // nil before the operator has chosen it
	plane   *plane.Plane
	kept    bool // a keeper runs the plane
}

// design is what a control plane consists of.
type design struct {
	pki         plane.PKI
	address     netip.Addr
	service     string // its name in the management cluster
	inside      bool   // the address is one of the management cluster alone
	names       []string
	serviceCIDR string
	trust       *trust // nil: no trustd
}

func (t *Tenant) ca() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.design == nil {
		return nil
	}
	return t.design.pki.CA.Cert
}

func (t *Tenant) change(do func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	do()
	close(t.changed)
	t.changed = make(chan struct{})
}

// await returns once done, which it calls under lock, says so.
func (t *Tenant) await(ctx context.Context, done func() bool) error {
	for {
		t.mu.Lock()
		ok, changed := done(), t.changed
		t.mu.Unlock()
		if ok || ctx.Err() != nil {
			return ctx.Err()
		}
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
}

// set records the design; a change has an effect when the control plane starts again.
func (t *Tenant) set(d *design) {
	t.change(func() {
		t.design = d
		t.wake()
	})
}

// join records that a pod of the control plane runs until leave is called, which returns when
// what that ends has ended.
func (t *Tenant) join(pod *corev1.Pod) (leave func()) {
	t.change(func() {
		t.pods[pod.UID] = versionOf(pod)
		t.wake()
	})
	return func() {
		t.change(func() { delete(t.pods, pod.UID) })
		_ = t.await(context.Background(), func() bool { return len(t.pods) > 0 || t.plane == nil && !t.kept })
	}
}

// wake starts the keeper if there is something to keep. It is called under lock.
func (t *Tenant) wake() {
	if !t.kept && t.design != nil && len(t.pods) > 0 {
		t.kept = true
		go t.keep()
	}
}

// versionOf is that of the API server's image.
func versionOf(pod *corev1.Pod) string {
	for _, c := range pod.Spec.Containers {
		if c.Name == "kube-apiserver" {
			return c.Image[strings.LastIndex(c.Image, ":")+1:]
		}
	}
	return ""
}

// wanted is the newest version among the pods: a new one replaces an old one. It is called
// under lock.
func (t *Tenant) wanted() (newest string) {
	for _, v := range t.pods {
		if newest == "" || version.MustParseGeneric(v).GreaterThan(version.MustParseGeneric(newest)) {
			newest = v
		}
	}
	return newest
}

// keep runs the control plane while it has pods.
func (t *Tenant) keep() {
	for {
		var v string
		t.change(func() {
			if v = t.wanted(); v == "" {
				t.kept = false
			}
		})
		if v == "" {
			return
		}
		if err := t.run(v); err != nil {
			t.log.Warn("the control plane of a tenant ended", "error", err)
			<-time.After(retry)
		}
	}
}

// run is the life of a control plane of one version.
func (t *Tenant) run(v string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		defer cancel()
		_ = t.await(ctx, func() bool { return t.wanted() != v })
	}()
	t.mu.Lock()
	d := *t.design
	t.mu.Unlock()
	p, err := cluster.Start(ctx, cluster.ControlPlane{
		Dir: t.dir, Executable: t.host.options.Executable, Holder: "tenant " + t.name, PKI: d.pki, Names: d.names,
		ServiceCIDR: d.serviceCIDR, Services: t.Services, Version: v,
	})
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	if err := prepare(ctx, p.Config()); err != nil {
		return errors.Join(err, p.Stop())
	}
	t.log.Info("the control plane of a tenant is up", "version", v, "address", d.address)
	t.change(func() { t.plane = p })
	t.serve(ctx, p, d)
	t.change(func() { t.plane = nil })
	t.log.Info("the control plane of a tenant is down", "version", v)
	return errors.Join(p.Err(), p.Stop())
}

// serve has the control plane answer at its address until ctx or the plane ends.
func (t *Tenant) serve(ctx context.Context, p *plane.Plane, d design) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		select {
		case <-p.Done():
		case <-ctx.Done():
		}
	}()
	host, err := t.host.options.Network.Claim(ctx, d.address)
	if err != nil {
		t.log.Warn("the address of a tenant cannot be used", "address", d.address, "error", err)
		<-ctx.Done()
		return
	}
	defer host.Detach()
	if d.inside {
		host.Admit(func(from network.Source) bool { return !from.Address.IsValid() || t.host.options.Inside(from.Address) })
		defer t.host.options.Network.Name(d.service, func() []netip.Addr { return []netip.Addr{d.address} })()
	}
	host.Forward(apiServerPort, p.Address())
	if d.trust != nil {
		go t.serveTrust(ctx, host, *d.trust)
	}
	<-ctx.Done()
}

func (t *Tenant) serveTrust(ctx context.Context, host *network.Host, trust trust) {
	if err := trust.serve(ctx, host); err != nil && ctx.Err() == nil {
		t.log.Warn("trustd of a tenant ended", "error", err)
	}
}

// idle says whether nothing of the control plane runs.
func (t *Tenant) idle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.pods) == 0 && !t.kept
}

// running is the version that answers; empty: none.
func (t *Tenant) running() (v string, pods int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plane == nil {
		return "", len(t.pods)
	}
	return t.wanted(), len(t.pods)
}

// AssignRange gives a node its pod addresses, as the controller manager of the tenant does.
func (t *Tenant) AssignRange(ctx context.Context, node string, pods netip.Prefix) (netip.Prefix, error) {
	t.ranges.Lock()
	defer t.ranges.Unlock()
	config := t.admin()
	if config == nil {
		return netip.Prefix{}, errors.New("the control plane of the tenant does not run")
	}
	return cluster.AssignRange(ctx, config, node, pods)
}

// admin is nil while the control plane does not run.
func (t *Tenant) admin() *rest.Config {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plane == nil {
		return nil
	}
	return t.plane.Config()
}

// During runs do with an administrator's access whenever the control plane runs, until ctx
// ends.
func (t *Tenant) During(ctx context.Context, do func(context.Context, *rest.Config)) {
	for t.await(ctx, func() bool { return t.plane != nil }) == nil {
		inner, end := context.WithCancel(ctx)
		config := t.admin()
		go func() {
			defer end()
			_ = t.await(inner, func() bool { return t.plane == nil })
		}()
		if config != nil {
			do(inner, config)
		}
		<-inner.Done()
		end()
	}
}

func sortedCompact(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
