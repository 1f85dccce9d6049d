// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// control is how a running platform is asked, and how its fault plan is replaced.
// Its address has a secret in it: everyone who can read sim.json may use it.
type control struct {
	url    string
	server *http.Server
}

// prepare has a platform start what a fault plan needs.
type prepare func(context.Context, fault.Plan) error

func openControl(faults *fault.Injector, ready prepare, a *audit.Auditor, log *slog.Logger) (*control, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for questions: %w", err)
	}
	secret := "/" + rand.Text()
	mux := http.NewServeMux()
	mux.HandleFunc("PUT "+secret+"/faults", func(w http.ResponseWriter, r *http.Request) { replaceFaults(w, r, faults, ready) })
	mux.HandleFunc("GET "+secret+"/faults", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(faults.Tallies()) // the caller may be gone
	})
	mux.HandleFunc("PUT "+secret+"/desired", func(w http.ResponseWriter, r *http.Request) { raiseDesired(w, r, a) })
	mux.HandleFunc("GET "+secret+"/objects", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(a.Left()) // the caller may be gone
	})
	quiet := slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	c := &control{url: "http://" + l.Addr().String() + secret, server: &http.Server{Handler: mux, ErrorLog: quiet}}
	go func() { _ = c.server.Serve(l) }() // ends with Close
	return c, nil
}

func (c *control) close() { _ = c.server.Close() }

// replaceFaults has another plan hold once the platform has what it needs: starting that
// takes nothing from the plan's time.
func replaceFaults(w http.ResponseWriter, r *http.Request, faults *fault.Injector, ready prepare) {
	var plan fault.Plan
	if err := json.NewDecoder(r.Body).Decode(&plan); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := ready(r.Context(), plan); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	faults.Replace(plan)
}

func raiseDesired(w http.ResponseWriter, r *http.Request, a *audit.Auditor) {
	var desired []audit.Desired
	if err := json.NewDecoder(r.Body).Decode(&desired); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a.Raise(desired)
}

// SetFaults replaces the fault plan of the platform that runs in
// dir; an empty one lifts all faults. It holds until that process ends.
func SetFaults(ctx context.Context, dir string, p fault.Plan) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = ask(ctx, dir, http.MethodPut, "/faults", data)
	return err
}

// Tallies are how often the faults have happened of each plan that has held for the
// platform that runs in dir, the present one last.
func Tallies(ctx context.Context, dir string) (all []fault.Tally, err error) {
	data, err := ask(ctx, dir, http.MethodGet, "/faults", nil)
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	return all, err
}

// Left are the objects with an owner's tags on the platform that runs in dir.
func Left(ctx context.Context, dir string) (left []audit.Object, err error) {
	data, err := ask(ctx, dir, http.MethodGet, "/objects", nil)
	if err == nil {
		err = json.Unmarshal(data, &left)
	}
	return left, err
}

// Violations are the times that something happened in dir that must never happen.
func Violations(dir string) ([]audit.Violation, error) { return audit.Violations(dir) }

func ask(ctx context.Context, dir, method, path string, data []byte) ([]byte, error) {
	i, _, running := Running(dir)
	if !running {
		return nil, fmt.Errorf("no simulated platform runs in %s; the bootstrap command starts it again", dir)
	}
	request, err := http.NewRequestWithContext(ctx, method, i.Control+path, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask the simulated platform in %s: %w", dir, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("the simulated platform in %s says: %s", dir, strings.TrimSpace(string(answer)))
	}
	return answer, err
}

// openAuditor continues the audit of o.Dir.
func (o Options) openAuditor() (*audit.Auditor, error) {
	var shared []netip.Addr
	for _, text := range o.Setup.Seed.Shared {
		address, err := netip.ParseAddr(text)
		if err != nil {
			return nil, fmt.Errorf("shared addresses: %w", err)
		}
		shared = append(shared, address)
	}
	return audit.Open(audit.Options{Dir: o.Dir, Desired: o.Setup.Seed.Desired, Shared: shared, Log: o.Log})
}
