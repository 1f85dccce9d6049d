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
// a kubelet that restarts.
type containers struct {
	ended func(key string) // called when those that had to stop have ended
	off   chan struct{}    // closed when the machine loses its power

	mu  sync.Mutex
	all map[string]*running
}

type running struct {
	pod    types.UID
	end    context.CancelFunc
	ending bool
	done   chan struct{}
}

func newContainers(ended func(string)) *containers {
	return &containers{ended: ended, off: make(chan struct{}), all: map[string]*running{}}
}

// start runs the containers of a pod unless they run. Those of another pod of the
// same name have to end first.
func (c *containers) start(key string, pod *corev1.Pod, run func(context.Context, *corev1.Pod)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.all[key]; r != nil {
		if r.pod == pod.UID || !c.stopped(key, r) {
			return
		}
	}
	ctx, end := context.WithCancel(context.Background())
	r := &running{pod: pod.UID, end: end, done: make(chan struct{})}
	c.all[key] = r
	go func() {
		run(ctx, pod)
		c.finish(key, r)
	}()
}

// finish leaves those in their place that ended by themselves: they are not started
// again.
func (c *containers) finish(key string, r *running) {
	c.mu.Lock()
	close(r.done)
	asked := r.ending
	if asked && c.all[key] == r {
		delete(c.all, key)
	}
	c.mu.Unlock()
	if asked {
		c.ended(key)
	}
}

// stop has the containers of the pod end, and says whether they have. If not, ended
// is notified when they do.
func (c *containers) stop(key string) (gone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.all[key]
	return r == nil || c.stopped(key, r)
}

// stopped is called under lock.
func (c *containers) stopped(key string, r *running) bool {
	r.ending = true
	r.end()
	select {
	case <-r.done:
		delete(c.all, key)
		return true
	default:
		return false
	}
}

// cut ends all of them as a loss of power does, and returns when they have ended.
func (c *containers) cut() {
	c.mu.Lock()
	close(c.off)
	var all []*running
	for _, r := range c.all {
		all = append(all, r)
		r.end()
	}
	c.mu.Unlock()
	for _, r := range all {
		<-r.done
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

// has says whether the pod's containers were started, and not asked to end.
func (c *containers) has(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.all[key]
	return r != nil && !r.ending
}
