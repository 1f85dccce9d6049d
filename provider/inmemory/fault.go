// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package inmemory

import (
	"context"
	"errors"

	"github.com/butlerdotdev/butler/provider"
)

// Op is an operation that can be made to fail.
type Op string

// The operations of the platform.
const (
	Connect Op = "connect"
	Observe Op = "observe"
	Create  Op = "create"
	Delete  Op = "delete"
	List    Op = "list"
	Adopt   Op = "adopt"

	Identify Op = "identify"

	ObserveLoadBalancer Op = "observe load balancer"
	EnsureLoadBalancer  Op = "ensure load balancer"
	DeleteLoadBalancer  Op = "delete load balancer"
	ListLoadBalancers   Op = "list load balancers"
)

// mode is how an operation fails.
type mode int

const (
	refuse      mode = iota // nothing happens, an error is returned
	lose                    // it happens, but the answer is lost
	stayHidden              // what exists is reported as absent
	stayPartial             // a part of the machine is created
	failLate                // it is accepted, and fails later
)

type fault struct {
	mode mode
	err  error
}

// Fail lets the next call of op have no effect and return err. Several faults of
// one operation apply to one call each, in order.
func (p *Platform) Fail(op Op, err error) { p.plan(op, fault{mode: refuse, err: err}) }

// Lose lets the next call of op take effect while its answer is lost.
func (p *Platform) Lose(op Op) { p.plan(op, fault{mode: lose}) }

// Hide lets the next n calls of Observe or Delete report Absent, whatever exists.
func (p *Platform) Hide(n int) {
	for range n {
		p.plan(Observe, fault{mode: stayHidden})
	}
}

// Halve lets the next Create that creates a machine leave it partial.
func (p *Platform) Halve() { p.plan(Create, fault{mode: stayPartial}) }

// HalveLoadBalancer lets the next Ensure that creates a load balancer leave it partial.
func (p *Platform) HalveLoadBalancer() { p.plan(EnsureLoadBalancer, fault{mode: stayPartial}) }

// FailLate lets the next Create or Delete be accepted while its task fails: the
// machine never runs, or it is not removed.
func (p *Platform) FailLate(op Op) { p.plan(op, fault{mode: failLate}) }

// Refuse lets every call of the operations have no effect and return err, until
// Lift.
func (p *Platform) Refuse(err error, ops ...Op) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, op := range ops {
		p.standing[op] = err
	}
}

// Silence lets calls of the operations, on a connection, go unanswered until
// their context ends or Lift.
func (p *Platform) Silence(ops ...Op) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, op := range ops {
		if p.silent[op] == nil {
			p.silent[op] = make(chan struct{})
		}
	}
}

// Redirect lets connections that are opened from now on reach another platform,
// until Lift: the credentials or the address of somewhere else were put in place.
func (p *Platform) Redirect(to *Platform) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.elsewhere = to
}

// Replace lets another platform answer until Lift, on connections that are open too:
// the address has moved.
func (p *Platform) Replace(by *Platform) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.elsewhere, p.moved = by, true
}

// answering is the platform that connections reach.
func (p *Platform) answering() *Platform {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.elsewhere != nil {
		return p.elsewhere
	}
	return p
}

// Lift ends all faults.
func (p *Platform) Lift() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.elsewhere, p.moved = nil, false
	for _, wait := range p.silent {
		close(wait)
	}
	clear(p.silent)
	clear(p.standing)
	clear(p.faults)
}

func (p *Platform) plan(op Op, f fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults[op] = append(p.faults[op], f)
}

// take consumes the next fault of op if it is of the given mode.
func (p *Platform) take(op Op, m mode) bool {
	if len(p.faults[op]) == 0 || p.faults[op][0].mode != m {
		return false
	}
	p.faults[op] = p.faults[op][1:]
	return true
}

func (p *Platform) hidden() bool { return p.take(Observe, stayHidden) }

func (p *Platform) begin(ctx context.Context, op Op, what string) (func() error, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.enter(ctx, op, what)
}

// enter counts the call and returns its failure, or a function that returns how the
// call ends once it has taken effect.
func (p *Platform) enter(ctx context.Context, op Op, what string) (func() error, error) {
	p.calls[op]++
	if err := ctx.Err(); err != nil {
		return nil, &provider.Error{Kind: provider.Unavailable, Reason: "Cancelled", Op: what, Err: err}
	}
	if err := p.standing[op]; err != nil {
		return nil, err
	}
	if len(p.faults[op]) > 0 && p.faults[op][0].mode == refuse {
		err := p.faults[op][0].err
		p.faults[op] = p.faults[op][1:]
		return nil, err
	}
	if p.take(op, lose) {
		return func() error {
			return &provider.Error{Kind: provider.Unavailable, Reason: "AnswerLost", Op: what, Err: errors.New("connection reset by peer")}
		}, nil
	}
	return func() error { return nil }, nil
}
