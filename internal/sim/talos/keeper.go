// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"slices"

	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/sim/cluster"
)

// startMember records that the etcd of a member runs, and by what name.
func (f *formation) startMember(m member, n *node) (err error) {
	f.change(func() {
		if err = f.name(m); err != nil {
			return
		}
		f.running[m.ID] = n
		if !f.kept {
			f.kept = true
			go f.keep()
		}
	})
	return err
}

// stopMember records that it does not any more, and returns when what that ends has
// ended. Nothing is left of a first member whose etcd did not come to run.
func (f *formation) stopMember(id uint64) {
	f.change(func() { delete(f.running, id) })
	_ = f.await(context.Background(), func() bool { return f.quorum() || !f.active })
	f.clean()
}

// quorum says whether etcd can answer. It is called under lock.
func (f *formation) quorum() bool {
	voters, running := 0, 0
	for _, m := range f.members {
		if m.Learner {
			continue
		}
		voters++
		if f.running[m.ID] != nil {
			running++
		}
	}
	return running > voters/2
}

// restart restarts a control plane that is about to start.
func (f *formation) restart() { f.change(func() { f.restarts++ }) }

// keep has the control plane run whenever there is a quorum, until no member runs.
func (f *formation) keep() {
	for f.awaitQuorum() {
		f.runPlane()
		f.change(func() { f.active = false })
	}
}

// awaitQuorum reports false when the last member is gone.
func (f *formation) awaitQuorum() (ok bool) {
	_ = f.await(context.Background(), func() bool {
		ok = f.quorum()
		f.active, f.kept = ok, len(f.running) > 0
		return ok || !f.kept
	})
	return ok
}

// runPlane runs the one control plane that represents those of all members. What
// ends is started again, as static pods are.
func (f *formation) runPlane() {
	f.mu.Lock()
	restarts := f.restarts
	f.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		defer cancel()
		_ = f.await(ctx, func() bool { return !f.quorum() || f.plane == nil && f.restarts != restarts })
	}()
	if !f.faults.Await(ctx, func() bool { return !f.silenced() }) {
		return
	}
	p, err := f.start(ctx)
	if err != nil {
		if ctx.Err() == nil {
			f.log.Warn("control plane did not start", "error", err)
			pause(ctx, retry)
		}
		return
	}
	f.log.Info("control plane is up")
	f.change(func() { f.plane = p })
	go func() {
		if f.faults.Await(ctx, f.silenced) {
			p.Kill("kube-apiserver")
		}
	}()
	select {
	case <-p.Done():
	case <-ctx.Done():
	}
	f.change(func() { f.plane = nil })
	f.stop(p)
}

// silenced says whether the API servers of all members have died. One process stands
// for them: while any of them answers, it continues.
func (f *formation) silenced() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.running {
		if _, on := f.faults.APIServerDown(n.machine.Name); !on {
			return false
		}
	}
	return len(f.running) > 0
}

func (f *formation) stop(p *plane.Plane) {
	if err := p.Err(); err != nil {
		f.log.Warn("control plane ended", "error", err)
	}
	if err := p.Stop(); err != nil {
		f.log.Warn("control plane did not stop cleanly", "error", err)
	}
	f.log.Info("control plane is down")
}

// controlPlane is the one that the configuration of a running member describes. Its
// certificate has the names of all members, and of control planes that are to join;
// that of one which comes later has to wait for the next start.
func (f *formation) controlPlane() (c cluster.ControlPlane) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, n := range f.running {
		if f.has(id) {
			c = n.controlPlane(f.kubernetesDir())
			c.Services = f.services
		}
	}
	for _, m := range f.members {
		c.Names = append(c.Names, m.Address, m.Hostname)
	}
	for n := range f.nodes {
		c.Names = append(c.Names, n.apiServerNames()...)
	}
	c.Names = slices.DeleteFunc(c.Names, func(name string) bool { return name == "" })
	slices.Sort(c.Names)
	c.Names = slices.Compact(c.Names)
	return c
}
