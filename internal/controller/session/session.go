// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package session keeps one live connection per ProviderConfig, for all
// reconcilers of a provider.
package session

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/metric"
	"github.com/butlerdotdev/butler/provider"
)

// connectTimeout bounds one Connect; a driver makes a request or two in it.
const connectTimeout = 20 * time.Second

// errorKept is how long a failed Connect answers for all who ask.
const errorKept = time.Second

// patience is how long a caller waits for a Connect that is under way. No caller waits
// for one whose predecessor took longer: a platform that does not answer must not
// hold up the workers that others need.
const patience = 500 * time.Millisecond

// Sessions holds the live connections of one provider.
type Sessions struct {
	provider  provider.Provider
	transport provider.Transport
	ambient   bool
	cache     client.Reader
	live      client.Reader
	readable  Readable
	metrics   *metric.Metrics
	changes   chan event.TypedGenericEvent[Change]

	base context.Context
	stop context.CancelFunc

	mu   sync.Mutex
	held map[types.NamespacedName]*session
}

// renewEvery is how often a connection is given up for an answer that it got: many
// requests of one ProviderConfig may get the same.
const renewEvery = 5 * time.Second

// session is the connection of one ProviderConfig. Its mutex is never held while the
// platform is asked for something.
type session struct {
	name types.NamespacedName

	mu       sync.Mutex
	key      string
	platform *provider.Platform
	cancel   context.CancelFunc
	err      error
	failed   time.Time
	before   bool      // there was a connection before
	slow     bool      // the last Connect took longer than any caller waits
	attempt  *attempt  // the Connect that is under way
	renewed  time.Time // when it was last given up for an answer
}

// Options are what connections need.
type Options struct {
	Provider  provider.Provider
	Transport provider.Transport
	// NoAmbient forbids credentials of the environment, as in a rehearsal.
	NoAmbient bool
	// Cache shows from metadata alone whether a Secret has changed.
	Cache client.Reader
	// Live reads a Secret that has changed, so that no Secret is cached.
	Live client.Reader
	// Readable are the Secrets that may be read; nil is all of them.
	Readable Readable
	// Metrics record the calls to platforms; nil records none.
	Metrics *metric.Metrics
}

// New returns an empty set of connections.
func New(o Options) *Sessions {
	base, stop := context.WithCancel(context.Background())
	return &Sessions{
		provider: o.Provider, transport: o.Transport, ambient: !o.NoAmbient, cache: o.Cache, live: o.Live, readable: o.Readable, metrics: o.Metrics,
		changes: make(chan event.TypedGenericEvent[Change]),
		base:    base, stop: stop,
		held: map[types.NamespacedName]*session{},
	}
}

// Change is what a platform has pushed. A Ref to no machine means that all machines
// of the ProviderConfig have to be looked at.
type Change struct {
	Config types.NamespacedName
	Ref    provider.MachineRef
}

// Changes delivers what any of the platforms pushes.
func (s *Sessions) Changes() <-chan event.TypedGenericEvent[Change] { return s.changes }

// Start waits for the context's end and closes all connections.
func (s *Sessions) Start(ctx context.Context) error {
	<-ctx.Done()
	s.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, c := range s.held {
		c.end()
		delete(s.held, name)
	}
	return nil
}

// Forget closes the connection of a ProviderConfig that is gone.
func (s *Sessions) Forget(name types.NamespacedName) {
	s.mu.Lock()
	c := s.held[name]
	delete(s.held, name)
	s.mu.Unlock()
	if c != nil {
		c.end()
	}
}

// Platform returns the connection of a ProviderConfig. It is replaced when the
// spec or the Secret has changed; a status that is written does not count. It does
// not wait for a platform that does not answer.
func (s *Sessions) Platform(ctx context.Context, config *v1alpha1.ProviderConfig) (*provider.Platform, error) {
	c := s.of(client.ObjectKeyFromObject(config))
	known, err := s.Version(ctx, config)
	if err != nil {
		return nil, err
	}
	if p, ok, err := c.answer(known); ok {
		return p, err
	}
	a := c.underWay(known)
	if a == nil {
		credentials, key, err := s.credentials(ctx, config)
		if err != nil {
			return nil, err
		}
		a = s.attempt(c, config, credentials, key)
	}
	return a.await(ctx, config)
}

// Refused reports whether a connection that got this answer has been given up, so
// that it is worth asking again over a new one: a login may have run out that a new
// one renews.
func (s *Sessions) Refused(name types.NamespacedName, p *provider.Platform, err error) bool {
	if err == nil || provider.KindOf(err) != provider.Unauthorized {
		return false
	}
	c := s.of(name)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.platform != p {
		return c.platform != nil
	}
	if time.Since(c.renewed) < renewEvery {
		return false
	}
	c.renewed = time.Now()
	c.close()
	return true
}

// Probe opens a connection of its own, whether or not there is one already, and
// hands it to use. It is how credentials are checked again.
func (s *Sessions) Probe(ctx context.Context, config *v1alpha1.ProviderConfig, use func(*provider.Platform) error) error {
	credentials, _, err := s.credentials(ctx, config)
	if err != nil {
		return err
	}
	p, err := s.connect(ctx, config, credentials)
	if err != nil {
		return err
	}
	if p.Close != nil {
		defer p.Close()
	}
	s.compare(client.ObjectKeyFromObject(config), p.Identity)
	return use(p)
}

// Identify returns the identity of the platform that answers by now over a connection,
// which is given up if that is another one than before.
func (s *Sessions) Identify(ctx context.Context, name types.NamespacedName, p *provider.Platform) (provider.Identity, error) {
	if p.Identify == nil {
		return p.Identity, nil
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	now, err := p.Identify(ctx)
	if err == nil {
		s.compare(name, now)
	}
	return now, err
}

// compare gives a connection up if another platform answers by now in its place.
func (s *Sessions) compare(name types.NamespacedName, now provider.Identity) {
	c := s.of(name)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.platform != nil && c.platform.Identity.Compare(now) == provider.Different {
		c.close()
	}
}

func (s *Sessions) of(name types.NamespacedName) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.held[name]
	if !ok {
		c = &session{name: name}
		s.held[name] = c
	}
	return c
}

func (s *Sessions) connect(ctx context.Context, config *v1alpha1.ProviderConfig, c provider.Credentials) (*provider.Platform, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	p, err := timed(s.called, "connect", func() (provider.Platform, error) {
		return s.provider.Open(ctx, provider.Config{
			ProviderConfig: config.DeepCopy(), Credentials: c, Ambient: s.ambient, Transport: s.transport,
		})
	})
	if err != nil {
		return nil, err
	}
	measure(&p, s.called)
	coalesce(&p)
	return &p, nil
}

// forward delivers what a connection pushes. Where it takes the place of another,
// changes may have been missed in between.
func (s *Sessions) forward(ctx context.Context, config types.NamespacedName, refs <-chan provider.MachineRef, again bool) {
	if again && !s.deliver(ctx, Change{Config: config}) {
		return
	}
	for ref := range refs {
		if !s.deliver(ctx, Change{config, ref}) {
			return
		}
	}
}

func (s *Sessions) deliver(ctx context.Context, c Change) bool {
	select {
	case s.changes <- event.TypedGenericEvent[Change]{Object: c}:
		return true
	case <-ctx.Done():
		return false
	}
}

// answer is what the session has for that key, if anything.
func (c *session) answer(key string) (p *provider.Platform, ok bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.platform, c.usable(key), c.err
}

func (c *session) usable(key string) bool {
	return c.key == key && (c.platform != nil || c.err != nil && time.Since(c.failed) < errorKept)
}

// end closes the connection for good: one that is being opened is closed when it is.
func (c *session) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.attempt = nil
	c.close()
}

func (c *session) close() {
	if c.cancel != nil {
		c.cancel()
	}
	release(c.platform)
	c.key, c.platform, c.cancel, c.err = "", nil, nil, nil
}

func release(p *provider.Platform) {
	if p != nil && p.Close != nil {
		p.Close()
	}
}
