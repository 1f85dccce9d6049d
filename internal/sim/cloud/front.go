// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/front"
)

// serve opens the fronts: for the users with faults and the record of writes, for the
// administrator without.
func (b *Base) serve() (err error) {
	o, api := b.Options, b.behaviour.API
	api.Past, api.Second = b, http.HandlerFunc(b.serveSecond)
	users := front.Options{
		AddressFile: b.File("front"), Listen: o.Listen, Authority: o.Authority, Hosts: b.behaviour.Hosts, HTTP1: b.behaviour.HTTP1, API: api, Tags: b.behaviour.Tags, Content: b.behaviour.Content,
		Create: o.Create, Faults: o.Faults, Auditor: o.Auditor, Observe: o.Observe, Network: o.Network, Log: o.Log,
	}
	if b.front, err = front.Serve(users, b.behaviour.Serve); err != nil {
		return err
	}
	admin := front.Options{AddressFile: b.File("adminfront"), Authority: o.Authority, HTTP1: b.behaviour.HTTP1, API: api, Log: o.Log}
	if b.admin, err = front.Serve(admin, b.behaviour.Serve); err != nil {
		return err
	}
	if len(b.behaviour.Plain) == 0 {
		return nil
	}
	users.AddressFile, users.Hosts, users.Plain = b.File("plainfront"), b.behaviour.Plain, true
	b.plain, err = front.Serve(users, b.behaviour.Serve)
	return err
}

// Address returns where the API is served to its users, and AdminAddress where to the
// administrator, which is on loopback; empty: it is not served yet.
func (b *Base) Address() string { return address(b.front) }

// AdminAddress returns where the API is served to the administrator; see Address.
func (b *Base) AdminAddress() string { return address(b.admin) }

func address(s *front.Server) string {
	if s == nil {
		return ""
	}
	return s.Address()
}

// Note implements fault.Past.
func (b *Base) Note(moment time.Time) {
	b.Lock()
	defer b.Unlock()
	if b.past[moment] == nil {
		b.past[moment] = b.behaviour.Snapshot()
	}
}

// Answer implements fault.Past. A moment that was not noted is the present.
func (b *Base) Answer(w http.ResponseWriter, r *http.Request, moment time.Time) {
	b.Lock()
	then := b.past[moment]
	if then == nil {
		b.Unlock()
		b.behaviour.Serve(w, r)
		return
	}
	defer b.Unlock()
	then(w, r)
}

// Prepare implements facade.API: it starts the second platform of a plan.
func (b *Base) Prepare(_ context.Context, p fault.Plan) (err error) {
	if !p.Has(fault.SecondPlatform) {
		return nil
	}
	b.Lock()
	defer b.Unlock()
	if b.second != nil {
		return nil
	}
	o := b.Options
	o.Dir, o.Faults, o.Auditor, o.Network = filepath.Join(o.Dir, "second"), nil, nil, nil
	second, err := b.behaviour.Second(o)
	if err != nil {
		return fmt.Errorf("start the second platform: %w", err)
	}
	b.second = second
	return nil
}

func (b *Base) serveSecond(w http.ResponseWriter, r *http.Request) {
	b.Lock()
	second := b.second
	b.Unlock()
	if second == nil {
		http.Error(w, "the second platform does not run", http.StatusServiceUnavailable)
		return
	}
	second.ServeHTTP(w, r)
}
