// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/talos"
)

const (
	// atOnce is how many machines of a cluster are asked side by side.
	atOnce = 10
	// askTimeout bounds a question to a machine that may be silent, pushTimeout a push.
	askTimeout  = 3 * time.Second
	pushTimeout = 5 * time.Second
	// bootPatience is how long a machine that took its configuration may still be in
	// maintenance mode.
	bootPatience = time.Minute
)

// pushes remembers when a machine took its configuration, so that it is not held up by another.
type pushes struct {
	mu  sync.Mutex
	all map[types.UID]time.Time
}

func (p *pushes) at(id types.UID) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[id]
}

func (p *pushes) record(id types.UID, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil {
		p.all = map[types.UID]time.Time{}
	}
	for known, when := range p.all {
		if at.Sub(when) > bootPatience {
			delete(p.all, known)
		}
	}
	p.all[id] = at
}

// configureWorkers pushes the configuration to machines that wait for one: those that have
// read it from their user data do not. Machines of clouds always have.
func configureWorkers(ctx context.Context, s *session) (*step.Obstacle, error) {
	if !s.provider.Spec.Provider.OnPrem() {
		return nil, nil
	}
	api, err := s.talosClient()
	if err != nil {
		return nil, err
	}
	obstacles := make([]*step.Obstacle, len(s.machines))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i := range s.machines {
		if m := &s.machines[i]; s.nodeOf(m) == "" && m.GetDeletionTimestamp() == nil && addressOf(m) != "" {
			group.Go(func() (err error) {
				obstacles[i], err = s.configure(ctx, api, m)
				return err
			})
		}
	}
	err = group.Wait()
	s.deferred = step.Joined(obstacles)
	return nil, err
}

func (s *session) talosClient() (*talos.Client, error) {
	config, err := talos.HostedTalosconfig(s.Name, s.keys.talosCA, s.keys.talosKey, nil, time.Hour)
	if err != nil {
		return nil, err
	}
	return talos.NewClient(config, s.Dial)
}

// configure asks a machine what it is instead of assuming it, and configures it if it waits.
func (s *session) configure(ctx context.Context, api *talos.Client, m *unstructured.Unstructured) (*step.Obstacle, error) {
	address := addressOf(m)
	ask, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	state, why := api.State(ask, address)
	switch {
	case state == talos.StateForeign:
		o := polled("WaitingForTalos", "machine %s (%s) already belongs to another Talos cluster; delete the Machine", m.GetName(), address)
		o.Urgent = true
		return o, nil
	case state == talos.StateUnreachable:
		return polled("WaitingForTalos", "machine %s (%s) does not answer on the Talos API%s", m.GetName(), address, step.Because(why)), nil
	case state != talos.StateMaintenance, s.Clock().Sub(s.pushes.at(m.GetUID())) < bootPatience:
		return polled("WaitingForWorkers", "machine %s (%s) has its configuration and has not joined", m.GetName(), address), nil
	}
	return s.push(ctx, api, m)
}

func (s *session) push(ctx context.Context, api *talos.Client, m *unstructured.Unstructured) (*step.Obstacle, error) {
	config, err := talos.WorkerConfig(s.hosted(), talos.HostedWorker{Name: m.GetName(), ProviderID: text(m, "spec", "providerID")})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, pushTimeout)
	defer cancel()
	if err := api.Apply(ctx, addressOf(m), config); err != nil {
		return polled("WaitingForTalos", "machine %s (%s) did not accept its configuration: %s", m.GetName(), addressOf(m), step.Stable(err)), nil
	}
	s.pushes.record(m.GetUID(), s.Clock())
	return polled("WaitingForWorkers", "%s", fmt.Sprintf("machine %s (%s) has its configuration and has not joined", m.GetName(), addressOf(m))), nil
}
