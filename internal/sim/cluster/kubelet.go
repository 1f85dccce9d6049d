// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

const (
	heartbeat     = 10 * time.Second
	leaseDuration = 40 // seconds
	retryAfter    = time.Second
)

// Kubelet registers a node, keeps it Ready and makes the pods on it running. It
// lives as long as its machine is on; Run may be called again, one at a time.
type Kubelet struct {
	Options
	Node Node

	registered time.Time   // the first time
	networked  atomic.Bool // a CNI plugin was there
	addresses  addresses
	containers *containers
	programs   programs

	mu      sync.Mutex
	session *session // the present one, if any
}

// Options are a kubelet's environment.
type Options struct {
	// ReadyAfter is how long the node stays NotReady once it is registered. Until
	// then only pods on the host's network run.
	ReadyAfter time.Duration
	// AwaitsCNI says that the node has no network before a Cilium agent has run on
	// it.
	AwaitsCNI bool
	// AddonAfter is how long the pod of an addon takes from its creation until it
	// is ready.
	AddonAfter time.Duration
	Faults     *fault.Injector
	// Controllers says how containers with an image of this project are run.
	Controllers Controllers
	// Containers, if set, is what the containers of a running pod do. Its context
	// ends with the pod, or with Stop.
	Containers func(ctx context.Context, pod *corev1.Pod)
	// Broken, if set, returns why the containers of a pod end as soon as they start; empty if they
	// do not.
	Broken func(pod *corev1.Pod) string
	Log    *slog.Logger
}

// NewKubelet returns the kubelet of a node.
func NewKubelet(n Node, o Options) *Kubelet {
	k := &Kubelet{Options: o, Node: n}
	k.containers = newContainers(k.wake)
	return k
}

// Access is how a kubelet reaches its API server.
type Access struct {
	Config *rest.Config // identity system:node:<name> in the group system:nodes
	// Registered, if set, runs between the node's registration and its first
	// report, and again with each heartbeat; errors are logged and retried.
	Registered func(context.Context) error
	// Range, if set, gives the node its range of pod addresses, again after an error.
	Range func(context.Context) (netip.Prefix, error)
}

// session is a kubelet's time with one API server.
type session struct {
	*Kubelet
	access   Access
	client   kubernetes.Interface
	queue    workqueue.TypedRateLimitingInterface[string]
	pods     cache.Store
	reported bool          // the status, to this API server
	again    chan struct{} // a report is due before its time
	becomes  sync.Once
	ready    chan struct{} // closed when the node was reported Ready
}

// Run does the kubelet's work with one API server until ctx ends. A server that
// does not answer is asked again. Containers continue when Run has returned.
func (k *Kubelet) Run(ctx context.Context, access Access) error {
	client, err := kubernetes.NewForConfig(access.Config)
	if err != nil {
		return fmt.Errorf("kubelet of node %s: %w", k.Node.Name, err)
	}
	s := &session{
		Kubelet: k, access: access, client: client,
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
		again: make(chan struct{}, 1), ready: make(chan struct{}),
	}
	defer context.AfterFunc(ctx, s.queue.ShutDown)()
	pods := s.follow()
	k.begin(s)
	defer k.begin(nil)
	var work sync.WaitGroup
	work.Go(func() { s.runPods(ctx, pods) })
	defer work.Wait()
	for wait := time.Duration(0); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-s.again:
		case <-time.After(wait):
		}
		wait = s.report(ctx)
	}
}

func (k *Kubelet) begin(s *session) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.session = s
}

// present is the session that is under way, if any.
func (k *Kubelet) present() *session {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.session
}

// wake has the kubelet look at a pod.
func (k *Kubelet) wake(key string) {
	if s := k.present(); s != nil {
		s.queue.Add(key)
	}
}

// Stop ends all containers, as a machine does that loses its power, and returns when
// they have ended. No Run may be under way, nor follow.
func (k *Kubelet) Stop() { k.containers.cut() }

// report returns how long until the next one.
func (s *session) report(ctx context.Context) time.Duration {
	obstacle, err := s.beat(ctx)
	switch {
	case err != nil && ctx.Err() == nil:
		s.Log.Warn("kubelet could not report", "node", s.Node.Name, "error", err)
		return retryAfter
	case obstacle == "":
		s.becomes.Do(func() { close(s.ready) })
		return heartbeat
	case time.Since(s.registered) < s.ReadyAfter:
		return min(heartbeat, time.Until(s.registered.Add(s.ReadyAfter)))
	case !s.addresses.known():
		return retryAfter
	}
	return heartbeat
}

// connect notes that the node has a network.
func (k *Kubelet) connect() {
	if k.networked.Swap(true) {
		return
	}
	if s := k.present(); s != nil {
		select {
		case s.again <- struct{}{}:
		default:
		}
	}
}
