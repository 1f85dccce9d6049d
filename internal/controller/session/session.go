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
	"github.com/butlerdotdev/butler/provider"
)

// connectTimeout bounds one Connect; a driver makes a request or two in it.
const connectTimeout = 20 * time.Second

// errorKept is how long a failed Connect answers for all who ask: many requests
// of one ProviderConfig must not queue up behind a platform that does not answer.
const errorKept = time.Second

// Sessions holds the live connections of one provider.
type Sessions struct {
	provider  provider.Provider
	transport provider.Transport
	cache     client.Reader
	live      client.Reader
	readable  Readable
	changes   chan event.TypedGenericEvent[provider.MachineRef]

	base context.Context
	stop context.CancelFunc

	mu   sync.Mutex
	held map[types.NamespacedName]*session
}

// renewEvery is how often a connection is given up for an answer that it got: many
// requests of one ProviderConfig may get the same.
const renewEvery = 5 * time.Second

// session is the connection of one ProviderConfig; its mutex is held during Connect.
type session struct {
	mu       sync.Mutex
	key      string
	platform *provider.Platform
	cancel   context.CancelFunc
	err      error
	failed   time.Time
	renewed  time.Time // when it was last given up for an answer
}

// Options say what connections are made of.
type Options struct {
	Provider  provider.Provider
	Transport provider.Transport
	// Cache tells from metadata alone whether a Secret has changed.
	Cache client.Reader
	// Live reads a Secret that has changed, so that no Secret is cached.
	Live client.Reader
	// Readable are the Secrets that may be read; nil is all of them.
	Readable Readable
}

// New returns an empty set of connections.
func New(o Options) *Sessions {
	base, stop := context.WithCancel(context.Background())
	return &Sessions{
		provider: o.Provider, transport: o.Transport, cache: o.Cache, live: o.Live, readable: o.Readable,
		changes: make(chan event.TypedGenericEvent[provider.MachineRef]),
		base:    base, stop: stop,
		held: map[types.NamespacedName]*session{},
	}
}

// Changes delivers what any of the platforms pushes.
func (s *Sessions) Changes() <-chan event.TypedGenericEvent[provider.MachineRef] { return s.changes }

// Start waits for the context's end and closes all connections.
func (s *Sessions) Start(ctx context.Context) error {
	<-ctx.Done()
	s.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, c := range s.held {
		c.mu.Lock()
		c.close()
		c.mu.Unlock()
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
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.close()
}

// Platform returns the connection of a ProviderConfig. It is replaced when the
// spec or the Secret has changed; a status that is written does not count.
func (s *Sessions) Platform(ctx context.Context, config *v1alpha1.ProviderConfig) (*provider.Platform, error) {
	c := s.of(client.ObjectKeyFromObject(config))
	c.mu.Lock()
	defer c.mu.Unlock()
	known, err := s.Version(ctx, config)
	if err != nil {
		return nil, err
	}
	if c.usable(known) {
		return c.platform, c.err
	}
	credentials, key, err := s.credentials(ctx, config)
	if err != nil {
		return nil, err
	}
	if c.usable(key) {
		return c.platform, c.err
	}
	c.close()
	c.key = key
	c.platform, c.err = s.connect(ctx, config, credentials)
	s.begin(c)
	return c.platform, c.err
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

// Probe makes a connection of its own, whether or not there is one already, and
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
		c = &session{}
		s.held[name] = c
	}
	return c
}

func (s *Sessions) connect(ctx context.Context, config *v1alpha1.ProviderConfig, c provider.Credentials) (*provider.Platform, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	p, err := s.provider.Connect(ctx, provider.Config{
		ProviderConfig: config.DeepCopy(), Credentials: c, Transport: s.transport,
	})
	if err != nil {
		return nil, err
	}
	return &p, nil
}

// begin starts to forward what the new connection pushes.
func (s *Sessions) begin(c *session) {
	if c.err != nil {
		c.failed = time.Now()
		return
	}
	ctx, cancel := context.WithCancel(s.base)
	c.cancel = cancel
	if c.platform.Changes != nil {
		go s.forward(ctx, c.platform.Changes(ctx))
	}
}

func (s *Sessions) forward(ctx context.Context, refs <-chan provider.MachineRef) {
	for ref := range refs {
		select {
		case s.changes <- event.TypedGenericEvent[provider.MachineRef]{Object: ref}:
		case <-ctx.Done():
			return
		}
	}
}

func (c *session) usable(key string) bool {
	return c.key == key && (c.platform != nil || c.err != nil && time.Since(c.failed) < errorKept)
}

func (c *session) close() {
	if c.cancel != nil {
		c.cancel()
	}
	if c.platform != nil && c.platform.Close != nil {
		c.platform.Close()
	}
	c.key, c.platform, c.cancel, c.err = "", nil, nil, nil
}
