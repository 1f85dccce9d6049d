// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package conflict_test

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/conflict"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// platform has machines by name.
type platform struct {
	mu    sync.Mutex
	names map[string]bool
}

func (p *platform) create(_ context.Context, name string) (func(context.Context) error, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.names[name] {
		return nil, nil
	}
	p.names[name] = true
	return func(context.Context) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.names, name)
		return nil
	}, nil
}

func (p *platform) expect(t *testing.T, want string) {
	t.Helper()
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if got := strings.Join(slices.Sorted(maps.Keys(p.names)), " "); got != want {
		t.Errorf("machines %q, want %q", got, want)
	}
}

func planned(t *testing.T, text string) fault.Plan {
	t.Helper()
	p, err := fault.Parse([]byte("faults:\n" + text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestConflictingMachinesComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		faults := fault.NewInjector(planned(t, `
- {kind: conflictingMachine, machine: always}
- {kind: conflictingMachine, machine: ours, for: 1s}
- {kind: conflictingMachine, machine: brief, for: 10s}
- {kind: conflictingMachine, machine: late, after: 20s, for: 10s}
- {kind: conflictingMachine, machine: never, after: 1h}
`))
		done := make(chan struct{})
		defer close(done)
		p := &platform{names: map[string]bool{"ours": true}}
		m := conflict.Machines{Faults: faults, Create: p.create, Done: done, Log: slog.New(slog.DiscardHandler)}
		if err := m.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.expect(t, "always brief ours")
		time.Sleep(15 * time.Second)
		p.expect(t, "always ours") // the name that was taken is not given back
		time.Sleep(10 * time.Second)
		p.expect(t, "always late ours")
		faults.Replace(planned(t, "- {kind: conflictingMachine, machine: other}"))
		p.expect(t, "always late other ours")
		time.Sleep(2 * time.Hour)
		p.expect(t, "always other ours")
	})
}
