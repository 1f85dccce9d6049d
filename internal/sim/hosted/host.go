// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package hosted plays Steward and Kamaji: control planes of tenants as pods of a management
// cluster. Each tenant gets a real API server, which answers at the address of its Service
// while a pod of its control plane runs.
package hosted

import (
	"bytes"
	"context"
	"encoding/pem"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/butlerdotdev/butler/internal/sim/cluster"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

// Options are the environment of the tenants of one management cluster.
type Options struct {
	Dir        string // of the tenants' data
	Executable string // see plane.Options
	Network    *network.Network
	Faults     *fault.Injector
	// Inside reports whether an address is that of a node of the management cluster, whose pods
	// reach the addresses of its Services.
	Inside func(netip.Addr) bool
	Log    *slog.Logger
}

// Host has the tenants of one management cluster.
type Host struct {
	options Options

	mu      sync.Mutex
	tenants map[types.UID]*Tenant // by the UID of their TenantControlPlane
}

// New returns a host without tenants.
func New(o Options) *Host { return &Host{options: o, tenants: map[types.UID]*Tenant{}} }

// Find returns the tenant with a certificate of authority, or nil.
func (h *Host) Find(ca []byte) *Tenant {
	want, _ := pem.Decode(ca)
	if h == nil || want == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.tenants {
		if own, _ := pem.Decode(t.ca()); own != nil && bytes.Equal(own.Bytes, want.Bytes) {
			return t
		}
	}
	return nil
}

// tenant returns the one of a TenantControlPlane.
func (h *Host) tenant(uid types.UID, name string) *Tenant {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.tenants[uid]
	if t == nil {
		log := h.options.Log.With("tenant", name)
		t = &Tenant{
			host: h, name: name, dir: filepath.Join(h.options.Dir, string(uid)), log: log,
			Services: &cluster.Services{Log: log, Faults: h.options.Faults},
			pods:     map[types.UID]string{}, changed: make(chan struct{}),
		}
		h.tenants[uid] = t
	}
	return t
}

// forget removes the data of a tenant that has no pods any more; it returns false if it has.
func (h *Host) forget(uid types.UID) (bool, error) {
	h.mu.Lock()
	t := h.tenants[uid]
	h.mu.Unlock()
	if t == nil {
		return true, nil
	}
	if !t.idle() {
		return false, nil
	}
	h.mu.Lock()
	delete(h.tenants, uid)
	h.mu.Unlock()
	return true, os.RemoveAll(t.dir)
}

// Labels of the pods of a control plane.
const (
	labelName = "steward.butlerlabs.dev/name"
	labelUID  = "stand-in.butlerlabs.dev/tenant"
)

// RunPod is what the pods of a tenant's control plane do until ctx ends; it returns at once for
// any other pod.
func (h *Host) RunPod(ctx context.Context, pod *corev1.Pod) {
	uid := types.UID(pod.Labels[labelUID])
	if uid == "" {
		return
	}
	t := h.tenant(uid, pod.Namespace+"/"+pod.Labels[labelName])
	defer t.join(pod)()
	<-ctx.Done()
}
