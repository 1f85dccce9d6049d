// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/butlerdotdev/butler/provider"
)

func transportOnly(t *trial) {
	trap, restore := setTrap()
	defer restore()
	c, g := t.config(), &gate{}
	g.dial, c.Transport.DialContext = c.Transport.Dial, g.open
	m := t.connect(c).Machines
	if g.passed() == 0 {
		t.errorf("connected without Config.Transport")
	}
	s := t.spec()
	if _, err := m.Create(t.ctx, s); err != nil {
		t.fatalf("create: %v", err)
	}
	g.shut()
	err := t.promptly("observe", func() error { _, err := m.Observe(t.ctx, s.MachineRef); return err })
	t.refused("observe without a network", err, provider.Unavailable)
	err = t.promptly("connect", func() error { return t.brieflyConnect(c) })
	t.refused("connect without a network", err, provider.Unavailable)
	if used := trap.seen(); len(used) > 0 {
		t.errorf("http.DefaultTransport was used for %v", used)
	}
}

func identity(t *trial) {
	here := t.connect(t.config()).Identity
	if here == "" {
		t.fatalf("the platform is not identified")
	}
	if again := t.connect(t.config()).Identity; again != here {
		t.errorf("another connection identifies the platform as %q, not as %q", again, here)
	}
	open := t.connect(t.config())
	lift := t.inject(OtherPlatform)
	there := t.reconnect(t.config()).Identity
	now := t.identify(open)
	lift()
	if open.Identify != nil && here.Compare(now) != provider.Different {
		t.errorf("over an open connection another platform is identified as %q, this one as %q: they do not differ", now, here)
	}
	if again := t.identify(open); here.Compare(again) != provider.Same {
		t.errorf("over an open connection the platform is identified as %q, before as %q", again, here)
	}
	if likeness := here.Compare(there); likeness != provider.Different {
		t.errorf("another platform is identified as %q, this one as %q: they do not differ", there, here)
	}
}

// reconnect connects while connections may be cut.
func (t *trial) reconnect(c provider.Config) (p provider.Platform) {
	var err error
	t.poll(func() bool {
		p, err = t.tryConnect(c)
		return err == nil || provider.KindOf(err) != provider.Unavailable
	})
	if err != nil {
		t.fatalf("connect: %v", err)
	}
	return p
}

// identify reads the identity of what answers over an open connection.
func (t *trial) identify(p provider.Platform) provider.Identity {
	if p.Identify == nil {
		return p.Identity
	}
	var now provider.Identity
	var err error
	t.poll(func() bool { // connections are cut when another platform answers
		now, err = p.Identify(t.ctx)
		t.heard.err(err)
		return err == nil || provider.KindOf(err) != provider.Unavailable
	})
	if err != nil {
		t.errorf("identify: %v", err)
	}
	return now
}

// brieflyConnect opens a connection and closes it.
func (t *trial) brieflyConnect(c provider.Config) error {
	p, err := t.suite.Provider.Connect(t.ctx, c)
	t.heard.err(err)
	if err == nil && p.Close != nil {
		p.Close()
	}
	return err
}

// gate is a way to the platform that can be shut.
type gate struct {
	dial func(context.Context, string, string) (net.Conn, error)

	mu     sync.Mutex
	conns  []net.Conn
	closed bool
}

func (g *gate) open(ctx context.Context, network, address string) (net.Conn, error) {
	g.mu.Lock()
	closed := g.closed
	g.mu.Unlock()
	if closed {
		return nil, errors.New("the test has cut the network")
	}
	conn, err := g.dial(ctx, network, address)
	if err == nil {
		g.mu.Lock()
		g.conns = append(g.conns, conn)
		g.mu.Unlock()
	}
	return conn, err
}

func (g *gate) passed() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.conns)
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for _, c := range g.conns {
		_ = c.Close()
	}
}

func (g *gate) reopen() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = false
}

// trap notes who dials through http.DefaultTransport.
type trap struct {
	mu        sync.Mutex
	addresses []string
}

// setTrap replaces http.DefaultTransport until the returned function is called.
// It stays an *http.Transport, because drivers may clone it.
func setTrap() (*trap, func()) {
	t, before := &trap{}, http.DefaultTransport
	http.DefaultTransport = &http.Transport{DialContext: t.dial}
	return t, func() { http.DefaultTransport = before }
}

func (t *trap) dial(_ context.Context, _, address string) (net.Conn, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.addresses = append(t.addresses, address)
	return nil, errors.New("this is not the transport of the connection")
}

func (t *trap) seen() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.addresses
}

func agentOnly(t *trial) {
	operator, ok := t.suite.Operator.(AgentOperator)
	if !ok {
		t.fatalf("the operator does not see who sends a request; argue in Unexercised why not")
	}
	c := t.config()
	c.Transport.Agent = "butler-conformance/v1 (" + newName() + ")"
	operator.Agents() // those before
	p := t.connect(c)
	s := t.spec()
	if _, err := p.Machines.Create(t.ctx, s); err != nil {
		t.fatalf("create: %v", err)
	}
	if p.Changes != nil {
		t.firstChange(p)
	}
	_, _ = p.Machines.Observe(t.ctx, s.MachineRef)
	_, _ = p.Machines.List(t.ctx, s.Owner)
	_, _ = p.Machines.Delete(t.ctx, s.MachineRef)
	if seen := operator.Agents(); !slices.Equal(seen, []string{c.Transport.Agent}) {
		t.errorf("the requests came from %q, want %q", seen, c.Transport.Agent)
	}
}

// firstChange waits until the platform has pushed something.
func (t *trial) firstChange(p provider.Platform) {
	ctx, cancel := context.WithTimeout(t.ctx, t.suite.Patience)
	defer cancel()
	select {
	case <-p.Changes(ctx):
	case <-ctx.Done():
	}
}

func noSecret(t *trial) {
	canary := "canary-" + uuid.NewString()
	s := t.spec()
	if t.suite.exercises("user data") {
		s.UserData = provider.Sensitive("#cloud-config\n# " + canary + "\n")
	}
	t.provoke(s)
	t.create(s)
	t.await(s.MachineRef, complete()...)
	_ = t.deleteUntilAbsent(s.MachineRef)
	for i, secret := range append([]string{canary}, t.suite.Secrets...) {
		if secret != "" && t.heard.said(secret) {
			t.errorf("%s is in an error, a message or a log line", secretKind(i))
		}
	}
}

func secretKind(i int) string {
	if i == 0 {
		return "user data"
	}
	return "a secret of the credentials"
}

// provokeBalancers calls every operation on load balancers, if there are any.
func (t *trial) provokeBalancers() {
	lbs := t.platform.LoadBalancers
	if lbs == nil {
		return
	}
	ref := provider.LoadBalancerRef{Name: newName(), Owner: provider.Owner{ID: uuid.NewString()}}
	_, err := lbs.Observe(t.ctx, ref)
	t.heard.err(err)
	_, err = lbs.Ensure(t.ctx, provider.LoadBalancerSpec{LoadBalancerRef: ref, Port: balancerPort, HealthCheckPort: balancerPort})
	t.heard.err(err)
	t.heard.err(lbs.Delete(t.ctx, ref))
	_, err = lbs.List(t.ctx, ref.Owner)
	t.heard.err(err)
}

// provoke lets the driver fail in all ways that the operator has.
func (t *trial) provoke(s provider.MachineSpec) {
	faults := map[string]Fault{ruleThrottled: Throttled, ruleDenied: Denied, ruleCapacity: NoCapacity}
	for _, rule := range names(faults) {
		if !t.suite.exercises(rule) {
			continue
		}
		lift := t.inject(faults[rule])
		for _, call := range t.calls(s) {
			_ = call(t.ctx)
		}
		t.provokeBalancers()
		_, _ = t.tryConnect(t.config())
		lift()
	}
	for _, changes := range []map[string]Change{t.suite.Missing, t.suite.Refused} {
		for _, change := range changes {
			c, altered := t.config(), s
			change(&c, &altered)
			if p, err := t.tryConnect(c); err == nil {
				_, _ = p.Machines.Create(t.ctx, altered)
			}
		}
	}
}
