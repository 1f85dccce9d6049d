// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/butlerdotdev/butler/internal/plane/planetest"
)

// playerAgent is the name of clients that are not counted.
const playerAgent = "player"

// calls counts requests by method and collection.
type calls struct {
	mu   sync.Mutex
	seen map[string]int
}

func (c *calls) add(r *http.Request) {
	if r.UserAgent() == playerAgent {
		return
	}
	path := r.URL.Path
	if rest, is := strings.CutPrefix(path, "/tenants/"); is {
		_, path, _ = strings.Cut(rest, "/")
	}
	method := r.Method
	if p, ok := placeOf(path); ok {
		path = p.collection
		if p.part != "" {
			path += "/" + p.part
		}
		if r.URL.Query().Has("watch") {
			method = "WATCH"
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = map[string]int{}
	}
	c.seen[method+" "+path]++
}

// of counts what goes through a transport.
func (c *calls) of(to http.RoundTripper) http.RoundTripper {
	return throughGate(func(r *http.Request) (*http.Response, error) {
		c.add(r)
		return to.RoundTrip(r)
	})
}

// reset begins to count again, and returns what was counted.
func (c *calls) reset() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.seen
	c.seen = nil
	return out
}

// sum adds up counts; without watches, of which there is one as long as the program runs.
func sum(of map[string]int) (n int) {
	for key, count := range of {
		if !strings.HasPrefix(key, "WATCH") {
			n += count
		}
	}
	return n
}

// table lists what was counted, divided by n.
func table(of map[string]int, n int) string {
	var out strings.Builder
	for _, key := range slices.Sorted(maps.Keys(of)) {
		fmt.Fprintf(&out, "  %-60s %6.2f\n", key, float64(of[key])/float64(n))
	}
	return out.String()
}

// before puts the counter in front of an API server and returns a kubeconfig for it.
func (c *calls) before(f *fixture, config *rest.Config) string {
	f.Helper()
	return planetest.Observe(f.TB, config, c.add)
}
