// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// secondPlatform is another Harvester that may answer at the address of this one. It
// has an API server of its own, so that everything on it has other UIDs, accepts the
// same certificates and has what the seed names, but no machine and no host.
type secondPlatform struct {
	*Harvester
	forward http.Handler
}

// Prepare starts what a fault plan needs, and returns when that serves. It is kept in
// Dir/second, with an admin.yaml of its own, and ends with Stop.
func (h *Harvester) Prepare(ctx context.Context, p fault.Plan) error {
	if !p.Has(fault.SecondPlatform) {
		return nil
	}
	h.preparing.Lock()
	defer h.preparing.Unlock()
	if h.second.Load() != nil {
		return nil
	}
	s, err := h.startSecond(ctx)
	if err != nil {
		return fmt.Errorf("start the second platform: %w", err)
	}
	h.second.Store(s)
	return nil
}

func (h *Harvester) startSecond(ctx context.Context) (*secondPlatform, error) {
	o := h.options
	o.Dir, o.Network, o.Faults, o.second = filepath.Join(o.Dir, "second"), nil, nil, true
	second, err := Start(ctx, o)
	if err != nil {
		return nil, err
	}
	forward, err := newForwarder(second.plane.Config())
	if err != nil {
		return nil, errors.Join(err, second.Stop())
	}
	return &secondPlatform{second, forward}, nil
}

// serveSecond answers as the second platform does.
func (h *Harvester) serveSecond(w http.ResponseWriter, r *http.Request) {
	s := h.second.Load()
	if s == nil {
		refuse(w, r, http.StatusServiceUnavailable, "the second platform does not run")
		return
	}
	s.forward.ServeHTTP(w, r)
}

func (s *secondPlatform) stop() error {
	if s == nil {
		return nil
	}
	return s.Stop()
}

// hosts are the names of those that machines of this platform can run on.
func (h *Harvester) hosts() []string {
	if h.options.second {
		return nil
	}
	return hosts()
}
