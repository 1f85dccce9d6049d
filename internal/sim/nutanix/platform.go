// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package nutanix simulates the API of Nutanix on the machines of a simulated
// datacenter.
package nutanix

import (
	"context"
	"net/http"
	"os"
	"path/filepath"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/front"
	"github.com/butlerdotdev/butler/provider/tag"
)

// Platform returns Nutanix as a platform that can be simulated.
func Platform() facade.Platform {
	return facade.Platform{Type: v1alpha1.ProviderNutanix, Start: start, Seed: seed}
}

// seed returns what a manifest expects on the platform.
func seed(*v1alpha1.ClusterBootstrap, *v1alpha1.ProviderConfig) any { return struct{}{} }

// api is the simulated API. It answers every call with 501 so far.
type api struct {
	front *front.Server
	ended chan struct{}
}

func start(_ context.Context, o facade.Options) (facade.API, error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	a := &api{ended: make(chan struct{})}
	var err error
	a.front, err = front.Serve(front.Options{
		AddressFile: filepath.Join(o.Dir, "front"), Authority: o.Authority,
		API:    fault.API{Classify: classify, Refuse: refuse},
		Tags:   func([]byte) tag.Set { return tag.Set{} },
		Create: o.Create, Faults: o.Faults, Auditor: o.Auditor, Observe: o.Observe, Network: o.Network, Log: o.Log,
	}, http.HandlerFunc(serve))
	if err != nil {
		return nil, err
	}
	return a, nil
}

// serve answers a call that no fault has answered.
func serve(w http.ResponseWriter, r *http.Request) {
	http.Error(w, "the simulated platform does not have "+r.Method+" "+r.URL.Path, http.StatusNotImplemented)
}

// classify says what a call is, for faults and for the record of writes.
func classify(*http.Request) fault.Call { return fault.Call{} }

// refuse answers a call that a fault refuses, in the platform's own words.
func refuse(w http.ResponseWriter, _ *http.Request, _ fault.Refusal) {
	http.Error(w, "refused", http.StatusNotImplemented)
}

// Credentials implements facade.API.
func (a *api) Credentials() map[string]string { return map[string]string{} }

// Admin implements facade.API.
func (a *api) Admin() string { return "" }

// Prepare implements facade.API.
func (a *api) Prepare(context.Context, fault.Plan) error { return nil }

// Wait implements facade.API.
func (a *api) Wait() error {
	<-a.ended
	return nil
}

// Stop implements facade.API.
func (a *api) Stop() error {
	defer close(a.ended)
	return a.front.Close()
}
