// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package harvester simulates Harvester: a real kube-apiserver that serves its
// resources, and controllers that play its storage and KubeVirt on the machines of
// a simulated datacenter. docs/contributing/sim-harvester.md says what is played
// how, and what is refused.
package harvester

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/front"
	"github.com/butlerdotdev/butler/internal/sim/harvester/crd"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

// Options are the parts of a simulated Harvester. Dir and Datacenter are needed.
type Options struct {
	Dir        string // state, kubeconfig and admin.yaml
	Executable string // see plane.Options
	Datacenter *datacenter.Datacenter
	// Authority issues the certificate of the API; nil: one in Dir.
	Authority *front.Authority
	Network   *network.Network // gets routes to the API server; nil: none
	// Listen is the address of this machine at which the limited user reaches the API; the
	// zero value is loopback.
	Listen netip.Addr
	Seed   Seed
	// Create is how long the platform takes to answer when a machine is created.
	Create time.Duration
	// Faults are what goes wrong; nil: nothing.
	Faults *fault.Injector
	// Auditor gets all objects and writes; nil: none.
	Auditor *audit.Auditor
	// Observe, if set, is called with every request of the limited user.
	Observe func(*http.Request, fault.Call)
	Log     *slog.Logger

	// second marks the platform that answers in place of another. It has no hosts: the
	// machines of the datacenter are the first one's.
	second bool
}

// Harvester is a simulated Harvester that runs.
type Harvester struct {
	options  Options
	plane    *plane.Plane
	front    *front.Server
	webhooks *http.Server
	cancel   context.CancelFunc
	ended    chan struct{} // closed when the controllers have ended
	err      error         // why, valid after ended
	once     sync.Once

	preparing sync.Mutex
	second    atomic.Pointer[secondPlatform] // nil: no fault plan has had one
}

// Start opens the simulated Harvester in o.Dir, or makes it, and returns when it
// serves. Dir/kubeconfig is then a limited user's, Dir/admin.yaml the
// administrator's. Machines that were on are powered on again.
func Start(ctx context.Context, o Options) (*Harvester, error) {
	if o.Dir == "" || o.Datacenter == nil {
		return nil, errors.New("start simulated Harvester: Dir and Datacenter are needed")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Authority == nil {
		var err error
		if o.Authority, err = front.OpenAuthority(filepath.Join(o.Dir, "authority")); err != nil {
			return nil, fmt.Errorf("start simulated Harvester: %w", err)
		}
	}
	definitions, err := crd.All()
	if err != nil {
		return nil, err
	}
	p, err := plane.Start(ctx, planeOptions(o, definitions))
	if err != nil {
		return nil, fmt.Errorf("start simulated Harvester: %w", err)
	}
	h := &Harvester{options: o, plane: p, ended: make(chan struct{})}
	if err := h.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start simulated Harvester: %w", err), h.Stop())
	}
	return h, nil
}

// Kubeconfig is the file of the limited user.
func (h *Harvester) Kubeconfig() string { return filepath.Join(h.options.Dir, "kubeconfig") }

// AdminKubeconfig is the file of the administrator.
func (h *Harvester) AdminKubeconfig() string { return filepath.Join(h.options.Dir, "admin.yaml") }

// Address returns the address of the API for the limited user.
func (h *Harvester) Address() string { return h.front.Address() }

// Wait returns when the simulation has ended: nil after Stop, else the cause.
func (h *Harvester) Wait() error {
	select {
	case <-h.ended:
		return h.err
	case <-h.plane.Done():
		return h.plane.Err()
	}
}

// Stop ends API server and controllers. Machines stay as they are: they belong to
// the datacenter. A second call does nothing.
func (h *Harvester) Stop() error {
	var err error
	h.once.Do(func() {
		if h.cancel != nil {
			h.cancel()
			<-h.ended
		}
		err = h.front.Close()
		if h.webhooks != nil {
			_ = h.webhooks.Close()
		}
		err = errors.Join(err, h.second.Load().stop(), h.plane.Stop())
	})
	return err
}

func planeOptions(o Options, definitions []*apiextensionsv1.CustomResourceDefinition) plane.Options {
	return plane.Options{
		Definitions: definitions,
		Dir:         filepath.Join(o.Dir, "plane"),
		Executable:  o.Executable,
		Holder:      "simulated Harvester",
		Names:       front.Names(o.Seed.Hosts),
		// Pods of the simulation run nowhere: they need no ServiceAccount.
		AdmissionOff: []string{"ServiceAccount"},
		Controllers: []string{
			"garbage-collector-controller",
			"namespace-controller",
			"persistentvolumeclaim-protection-controller",
			"resourcequota-controller",
		},
	}
}

func (h *Harvester) start(ctx context.Context) error {
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	c, err := client.New(h.plane.Config(), client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	if err := h.openFront(); err != nil {
		return err
	}
	for _, step := range []func(context.Context, client.Client) error{
		h.installWebhooks, h.installAccess, h.seed, h.startControllers, awaitWebhooks, h.startConflicts,
	} {
		if err := step(ctx, c); err != nil {
			return err
		}
	}
	if err := h.Prepare(ctx, h.options.Faults.Plan()); err != nil {
		return err
	}
	h.front.Route("443", "6443")
	h.options.Faults.Begin()
	return nil
}
