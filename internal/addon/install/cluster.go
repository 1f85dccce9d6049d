// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
)

// cluster is one that addons are put on, with a worker for each addon.
type cluster struct {
	id        string
	installer *Installer
	ctx       context.Context
	cancel    context.CancelFunc
	running   sync.WaitGroup

	mu         sync.Mutex
	target     Target
	connection *connection
	refusal    error // why there is no connection
	workers    map[string]*worker
	leaving    map[string]<-chan struct{} // closed when the last worker of a key has ended
}

func newCluster(i *Installer, id string) *cluster {
	c := &cluster{id: id, installer: i, workers: map[string]*worker{}, leaving: map[string]<-chan struct{}{}}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

func (c *cluster) advance(t Target, addons []addon.Addon) []State {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reach(t)
	c.drop(addons)
	states := make([]State, 0, len(addons))
	for _, a := range addons {
		w, known := c.workers[a.Key]
		if !known {
			w = c.hire(a)
		}
		w.want(a)
		states = append(states, w.state)
	}
	return states
}

// reach takes a new way to the cluster where it differs from the present one.
// What the platform is may differ too: addons that are made from it are looked
// at again.
func (c *cluster) reach(t Target) {
	t.Revision = cmp.Or(t.Revision, c.target.Revision)
	moved := t.Revision != c.target.Revision || !reflect.DeepEqual(c.target.Platform, t.Platform)
	c.target = t
	for _, w := range c.workers {
		if moved && fromCredentials(w.wanted) {
			w.change()
		}
	}
	switch {
	case t.Config == nil:
		c.refusal = errors.New("it is not known how to reach the cluster's API server")
	case c.connection != nil && c.connection.sameServer(t.Config):
		c.connection.redial(t.Config)
	default:
		c.reconnect(t)
	}
}

func (c *cluster) reconnect(t Target) {
	former := c.connection
	c.connection, c.refusal = connect(c.ctx, t.Config, c.touched)
	if c.refusal != nil {
		c.refusal = fmt.Errorf("the cluster's API server cannot be reached with this configuration: %w", c.refusal)
	}
	if former != nil {
		c.running.Go(former.close)
	}
	for _, w := range c.workers {
		w.nudge()
	}
}

// drop ends the workers of addons that are no longer listed.
func (c *cluster) drop(addons []addon.Addon) {
	for key, w := range c.workers {
		if !slices.ContainsFunc(addons, func(a addon.Addon) bool { return a.Key == key }) {
			w.cancel()
			c.leaving[key] = w.ended
			delete(c.workers, key)
		}
	}
}

// hire has a worker for an addon. It begins when one that had the same addon
// before has ended: two would take each other's releases for abandoned ones.
func (c *cluster) hire(a addon.Addon) *worker {
	w := &worker{
		cluster: c, key: a.Key, wake: make(chan struct{}, 1), log: c.installer.log.With("cluster", c.id, "addon", a.Key),
		wanted: a, generation: 1, state: State{Key: a.Key, Version: a.Version}, ended: make(chan struct{}),
	}
	var ctx context.Context
	ctx, w.cancel = context.WithCancel(c.ctx)
	c.workers[a.Key] = w
	former := c.leaving[a.Key]
	delete(c.leaving, a.Key)
	c.running.Go(func() {
		defer close(w.ended)
		if former != nil {
			<-former
		}
		w.run(ctx)
	})
	return w
}

// end stops everything and returns when it has stopped.
func (c *cluster) end() {
	c.cancel()
	c.running.Wait()
	if connection, _, _ := c.current(); connection != nil {
		connection.close()
	}
}

// current is the present way to the cluster, and what the cluster is.
func (c *cluster) current() (*connection, Target, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.connection, c.target, c.refusal
}

// touched nudges the workers that look at an object.
func (c *cluster) touched(object string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.workers {
		if w.interest[object] {
			w.nudge()
		}
	}
}

// rests reports whether all addons are ready.
func (c *cluster) rests() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.workers {
		if w.state.Phase != v1alpha1.AddonReady || w.taken != w.generation {
			return false
		}
	}
	return true
}

// unready are those of the given addons that are not ready.
func (c *cluster) unready(keys []string) (out []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		if w := c.workers[key]; w == nil || w.state.Phase != v1alpha1.AddonReady {
			out = append(out, key)
		}
	}
	return out
}

// notify wakes the workers that wait for an addon. The caller holds the lock.
func (c *cluster) notify(key string) {
	for _, w := range c.workers {
		if slices.Contains(w.wanted.Needs, key) {
			w.nudge()
		}
	}
}
