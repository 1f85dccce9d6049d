// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
)

// dialTimeout is that of client-go.
const dialTimeout = 30 * time.Second

type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// connection is a way to a cluster's API server. All of its clients share one
// transport: Helm would otherwise make one per object.
type connection struct {
	identity  [sha256.Size]byte
	host      string
	transport http.RoundTripper
	dial      atomic.Pointer[dialer]

	kubernetes typed
	raw        rest.Interface // for paths
	dynamic    dynamic.Interface
	metadata   metadata.Interface
	mapper     *restmapper.DeferredDiscoveryRESTMapper

	ctx     context.Context
	cancel  context.CancelFunc
	touched func(object string)
	running sync.WaitGroup

	mu          sync.Mutex
	stores      map[schema.GroupVersionResource]cache.Store
	kinds       map[schema.GroupVersionKind]schema.GroupVersionResource // that were looked up
	established map[string]bool                                         // definitions that were seen to be
}

// connect returns a connection that lasts until ctx ends or it is closed. It
// sends no request yet.
func connect(ctx context.Context, config *rest.Config, touched func(string)) (*connection, error) {
	c := &connection{
		identity: identity(config), touched: touched,
		stores: map[schema.GroupVersionResource]cache.Store{}, established: map[string]bool{},
	}
	c.redial(config)
	if err := c.share(config); err != nil {
		return nil, err
	}
	c.ctx, c.cancel = context.WithCancel(ctx)
	if err := c.clients(); err != nil {
		c.cancel()
		return nil, err
	}
	return c, nil
}

// share creates the transport, with the credentials of config.
func (c *connection) share(config *rest.Config) error {
	own := rest.CopyConfig(config)
	own.Timeout = 0
	own.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		return (*c.dial.Load())(ctx, network, address)
	}
	url, _, err := rest.DefaultServerUrlFor(own)
	if err != nil {
		return err
	}
	c.host = url.String()
	client, err := rest.HTTPClientFor(own)
	if err != nil {
		return err
	}
	c.transport = client.Transport
	return nil
}

func (c *connection) clients() (err error) {
	config := c.config(c.ctx)
	if c.kubernetes, err = newTyped(config); err != nil {
		return err
	}
	if c.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return err
	}
	if c.metadata, err = metadata.NewForConfig(config); err != nil {
		return err
	}
	asked, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	c.raw = asked.RESTClient()
	c.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(asked))
	return nil
}

// config is for clients whose requests end with ctx.
func (c *connection) config(ctx context.Context) *rest.Config {
	return &rest.Config{
		Host: c.host, Transport: tied{ctx, c.transport}, QPS: -1, UserAgent: manager, WarningHandler: rest.NoWarnings{},
	}
}

// redial uses config for further connections.
func (c *connection) redial(config *rest.Config) {
	dial := dialer(config.Dial)
	if dial == nil {
		dial = (&net.Dialer{Timeout: dialTimeout, KeepAlive: dialTimeout}).DialContext
	}
	c.dial.Store(&dial)
}

// sameServer reports whether config has the same server and the same user. How it
// is dialled can change while a connection lasts.
func (c *connection) sameServer(config *rest.Config) bool { return c.identity == identity(config) }

func identity(c *rest.Config) [sha256.Size]byte {
	tls := c.TLSClientConfig
	return sha256.Sum256(fmt.Appendf(nil, "%q", []any{
		c.Host, c.APIPath, c.Username, c.Password, c.BearerToken, c.BearerTokenFile, fmt.Sprintf("%q", c.Impersonate),
		tls.ServerName, tls.Insecure, tls.CAFile, tls.CAData, tls.CertFile, tls.CertData, tls.KeyFile, tls.KeyData,
	}))
}

// resource looks up the resource of a kind; false if the cluster does not have it.
func (c *connection) resource(kind schema.GroupVersionKind) (schema.GroupVersionResource, bool, error) {
	c.mu.Lock()
	known, has := c.kinds[kind]
	c.mu.Unlock()
	if has {
		return known, true, nil
	}
	found, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		return schema.GroupVersionResource{}, false, nil
	}
	if err != nil {
		return schema.GroupVersionResource{}, false, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kinds == nil {
		c.kinds = map[schema.GroupVersionKind]schema.GroupVersionResource{}
	}
	c.kinds[kind] = found.Resource
	return found.Resource, true, nil
}

// rest drops what is needed only to apply something: all kinds that the cluster serves take
// more than a megabyte.
func (c *connection) rest() { c.mapper.Reset() }

func (c *connection) close() {
	c.cancel()
	c.running.Wait()
	utilnet.CloseIdleConnectionsFor(c.transport)
}
