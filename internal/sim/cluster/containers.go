// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// containers are those that run on a machine, by the name of their pod. They outlive
// a kubelet that restarts. The zero value has none.
type containers struct {
	mu  sync.Mutex
	all map[string]*running
}

type running struct {
	pod  types.UID
	end  context.CancelFunc
	done chan struct{}
}

// start runs the containers of a pod unless they run. Those of another pod of the
// same name end first.
func (c *containers) start(key string, pod *corev1.Pod, run func(context.Context, *corev1.Pod)) {
	c.mu.Lock()
	same := c.all[key] != nil && c.all[key].pod == pod.UID
	c.mu.Unlock()
	if same {
		return
	}
	c.stop(key)
	ctx, end := context.WithCancel(context.Background())
	r := &running{pod: pod.UID, end: end, done: make(chan struct{})}
	c.mu.Lock()
	if c.all == nil {
		c.all = map[string]*running{}
	}
	c.all[key] = r
	c.mu.Unlock()
	go func() {
		defer close(r.done)
		run(ctx, pod)
	}()
}

// stop ends the containers of the pod and returns when they have ended.
func (c *containers) stop(key string) {
	c.mu.Lock()
	r := c.all[key]
	delete(c.all, key)
	c.mu.Unlock()
	if r != nil {
		r.end()
		<-r.done
	}
}

func (c *containers) stopAll() {
	for _, key := range c.keys() {
		c.stop(key)
	}
}

func (c *containers) keys() (keys []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.all {
		keys = append(keys, key)
	}
	return keys
}
