// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// lookAgain is how soon nodes are looked at again: more often would be most of the work.
const lookAgain = 300 * time.Millisecond

// crowd plays for many tenants: from a cache, and when something has changed.
type crowd struct {
	*player
	cache   cache.Cache
	queue   workqueue.TypedRateLimitingInterface[string]
	servers *tenantServers

	mu      sync.Mutex
	clients map[string]client.Client
}

// playMany plays until the test ends.
func playMany(f *fixture) *crowd {
	f.Helper()
	config := rest.CopyConfig(api)
	config.UserAgent = playerAgent
	objects, err := cache.New(config, cache.Options{Scheme: f.Scheme()})
	f.Must(err)
	c := &crowd{
		player: playerOf(f), cache: objects, servers: newTenantServers(f.TB, f.RESTMapper()), clients: map[string]client.Client{},
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](20*time.Millisecond, time.Second)),
	}
	c.reader, c.tenant, c.kubeconfig = objects, c.client, c.servers.kubeconfig
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() { _ = objects.Start(ctx) })
	c.follow(ctx)
	for range 4 {
		ended.Go(func() { c.work(ctx) })
	}
	f.Cleanup(func() {
		cancel()
		c.queue.ShutDown()
		ended.Wait()
	})
	return c
}

// follow queues the namespace of whatever has changed.
func (c *crowd) follow(ctx context.Context) {
	for _, kind := range []schema.GroupVersionKind{clusterKind, controlPlaneKind, kubevirtKind, deploymentKind, machineKind} {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(kind)
		informer, err := c.cache.GetInformer(ctx, o)
		c.Must(err)
		queue := func(o any) {
			if lost, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
				o = lost.Obj
			}
			if namespace := o.(client.Object).GetNamespace(); strings.HasPrefix(namespace, c.Namespace+"-") {
				c.queue.Add(namespace)
			}
		}
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: queue, UpdateFunc: func(_, o any) { queue(o) }, DeleteFunc: queue})
		c.Must(err)
	}
}

func (c *crowd) work(ctx context.Context) {
	for {
		namespace, ended := c.queue.Get()
		if ended {
			return
		}
		if err := c.tenantOf(ctx, namespace); err != nil {
			c.queue.AddRateLimited(namespace)
		} else {
			c.queue.Forget(namespace)
		}
		c.queue.Done(namespace)
	}
}

// tenantOf plays for the clusters of a namespace. Nodes are no objects that it follows, so that
// it looks again until all machines have one.
func (c *crowd) tenantOf(ctx context.Context, namespace string) error {
	like := &unstructured.Unstructured{}
	like.SetNamespace(namespace)
	for _, cluster := range c.of(ctx, clusterKind, like) {
		if err := c.cluster(ctx, &cluster); err != nil {
			return err
		}
	}
	for _, m := range c.of(ctx, machineKind, like) {
		if text(&m, "status", "nodeRef", "name") == "" && text(&m, "spec", "providerID") != "" {
			c.queue.AddAfter(namespace, lookAgain)
			return nil
		}
	}
	return nil
}

// uncounted names the player.
type uncounted struct{ http.RoundTripper }

func (u uncounted) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", playerAgent)
	return u.RoundTripper.RoundTrip(r)
}

// client is one of a tenant's API server.
func (c *crowd) client(tenant string) client.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.clients[tenant]; known != nil {
		return known
	}
	data, err := c.servers.kubeconfig(tenant)
	c.Must(err)
	config, err := clientcmd.RESTConfigFromKubeConfig(data)
	c.Must(err)
	config.QPS = -1
	fresh, err := client.New(config, client.Options{Scheme: c.Scheme(), Mapper: c.RESTMapper(), HTTPClient: &http.Client{Transport: uncounted{c.servers.server.Client().Transport}}})
	c.Must(err)
	c.clients[tenant] = fresh
	return fresh
}
