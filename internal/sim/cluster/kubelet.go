// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	heartbeat     = 10 * time.Second
	leaseDuration = 40 // seconds
	retryAfter    = time.Second
)

// Kubelet registers a node, keeps it Ready and makes the pods on it running. It
// lives as long as its machine is on; Run may be called again, one at a time.
type Kubelet struct {
	Node Node
	// ReadyAfter is how long the node stays NotReady once it is registered. Until
	// then only pods on the host's network run.
	ReadyAfter time.Duration
	// Containers, if set, is what the containers of a running pod do. Its context
	// ends with the pod, or with Stop.
	Containers func(ctx context.Context, pod *corev1.Pod)
	Log        *slog.Logger

	registered time.Time // the first time
	containers containers
}

// Access is how a kubelet reaches its API server.
type Access struct {
	Config *rest.Config // identity system:node:<name> in the group system:nodes
	// Registered, if set, runs between the node's registration and its first
	// report, and again with each heartbeat; errors are logged and retried.
	Registered func(context.Context) error
}

// session is a kubelet's time with one API server.
type session struct {
	*Kubelet
	client   kubernetes.Interface
	mark     func(context.Context) error
	reported bool // the status, to this API server
	becomes  sync.Once
	ready    chan struct{} // closed when the node was reported Ready
}

// Run does the kubelet's work with one API server until ctx ends. A server that
// does not answer is asked again. Containers go on when Run has returned.
func (k *Kubelet) Run(ctx context.Context, access Access) error {
	client, err := kubernetes.NewForConfig(access.Config)
	if err != nil {
		return fmt.Errorf("kubelet of node %s: %w", k.Node.Name, err)
	}
	s := &session{Kubelet: k, client: client, mark: access.Registered, ready: make(chan struct{})}
	var pods sync.WaitGroup
	pods.Go(func() { s.runPods(ctx) })
	defer pods.Wait()
	for wait := time.Duration(0); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		wait = s.report(ctx)
	}
}

// Stop ends all containers, as a machine does that loses its power, and returns when
// they have ended. No Run may be under way.
func (k *Kubelet) Stop() { k.containers.stopAll() }

// report tells how long until the next one.
func (s *session) report(ctx context.Context) time.Duration {
	ready, err := s.beat(ctx)
	switch {
	case err != nil && ctx.Err() == nil:
		s.Log.Warn("kubelet could not report", "node", s.Node.Name, "error", err)
		return retryAfter
	case !ready:
		return min(heartbeat, time.Until(s.registered.Add(s.ReadyAfter)))
	}
	s.becomes.Do(func() { close(s.ready) })
	return heartbeat
}
