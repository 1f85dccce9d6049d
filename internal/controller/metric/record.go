// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package metric

import (
	"reflect"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// ok is the outcome of a call without an error.
const ok = "ok"

// Called records a call to a platform. Without metrics, as in tests, it does nothing; so do
// the others.
func (m *Metrics) Called(t v1alpha1.ProviderType, operation string, began time.Time, err error) {
	if m == nil {
		return
	}
	outcome := ok
	if err != nil {
		outcome = string(provider.KindOf(err))
	}
	m.calls.WithLabelValues(string(t), operation, outcome).Inc()
	m.durations.WithLabelValues(string(t), operation).Observe(time.Since(began).Seconds())
}

// Retried records that a pass over a request has ended with an error of the platform.
func (m *Metrics) Retried(request client.Object, t v1alpha1.ProviderType, err error) {
	if m != nil && err != nil {
		m.retries.WithLabelValues(kindOf(request), string(t), string(provider.KindOf(err))).Inc()
	}
}

// kindOf is the kind of an object, which is the name of its type.
func kindOf(o client.Object) string { return reflect.TypeOf(o).Elem().Name() }

// Orphans records how many orphans the platform of a ProviderConfig has.
func (m *Metrics) Orphans(t v1alpha1.ProviderType, config string, n int) {
	if m != nil {
		m.orphans.WithLabelValues(string(t), config).Set(float64(n))
	}
}

// ForgetOrphans removes what is recorded of a ProviderConfig that is gone.
func (m *Metrics) ForgetOrphans(t v1alpha1.ProviderType, config string) {
	if m != nil {
		m.orphans.DeleteLabelValues(string(t), config)
	}
}

// Pool records the addresses of a NetworkPool.
func (m *Metrics) Pool(p *v1alpha1.NetworkPool) {
	if m == nil {
		return
	}
	for state, n := range map[string]int32{"free": p.Status.AvailableIPs, "allocated": p.Status.AllocatedIPs, "resting": p.Status.RestingIPs} {
		m.addresses.WithLabelValues(p.Namespace, p.Name, state).Set(float64(n))
	}
}

// ForgetPool removes what is recorded of a NetworkPool that is gone.
func (m *Metrics) ForgetPool(namespace, name string) {
	if m != nil {
		m.addresses.DeletePartialMatch(map[string]string{"namespace": namespace, "networkpool": name})
	}
}
