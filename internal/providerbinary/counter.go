// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providerbinary

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// counter counts requests by verb and resource.
type counter struct {
	mu   sync.Mutex
	seen map[fault.Call]int
}

// countCall counts a call to the platform.
func (c *counter) countCall(_ *http.Request, call fault.Call) {
	c.add(fault.Call{Verb: call.Verb, Resource: call.Resource})
}

func (c *counter) add(call fault.Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = map[fault.Call]int{}
	}
	c.seen[call]++
}

// before puts the counter in front of the API server of a kubeconfig and returns the
// kubeconfig for the binary.
func (c *counter) before(b *testing.B, kubeconfig string) string {
	b.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	Must(b, err)
	return planetest.Observe(b, config, c.countRequest)
}

func (c *counter) countRequest(r *http.Request) {
	call := fault.Call{Verb: fault.Update, Resource: fault.Resource(r.URL.Path)}
	for part := range strings.SplitSeq(r.URL.Path, "/") {
		if strings.HasSuffix(part, "s") && part != "apis" && part != "namespaces" {
			call.Resource = fault.Resource(part)
			break
		}
	}
	switch {
	case r.URL.Query().Has("watch"):
		call.Verb = fault.Watch
	case r.Method == http.MethodGet:
		call.Verb = fault.Get
	}
	c.add(call)
}

// reset begins to count again.
func (c *counter) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = nil
}

func (c *counter) sum(of func(fault.Call) bool) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for call, count := range c.seen {
		if of(call) {
			n += count
		}
	}
	return n
}

func (c *counter) reads() int {
	return c.sum(func(call fault.Call) bool { return call.Verb == fault.Get || call.Verb == fault.List })
}

func (c *counter) writes() int { return c.sum(fault.Call.Writes) }

func (c *counter) table(n int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var lines []string
	for call, count := range c.seen {
		lines = append(lines, fmt.Sprintf("  %-40s %5.2f\n", string(call.Verb)+" "+string(call.Resource), float64(count)/float64(n)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
