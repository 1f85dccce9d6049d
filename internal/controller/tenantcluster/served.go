// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// missingTTL is for how long a kind that is not served is taken to be missing: each question
// for one is a request to the API server.
const missingTTL = 10 * time.Second

// missing are kinds that the management cluster did not serve when it was asked.
type missing struct {
	mu  sync.Mutex
	all map[schema.GroupKind]time.Time
}

// has reports whether a kind was missing a moment ago.
func (m *missing) has(kind schema.GroupKind, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	asked, known := m.all[kind]
	return known && now.Sub(asked) < missingTTL
}

func (m *missing) put(kind schema.GroupKind, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil {
		m.all = map[schema.GroupKind]time.Time{}
	}
	m.all[kind] = now
}
