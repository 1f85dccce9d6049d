// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/talos"
)

const (
	// exchangeTimeout bounds one exchange with a node or with the new cluster.
	exchangeTimeout = 10 * time.Second
	// askTimeout bounds a question to all control planes, and a push.
	askTimeout = 5 * time.Second
	// probeTimeout bounds a question to one that may well be silent.
	probeTimeout = 3 * time.Second
	// atOnce is how many nodes of a cluster are asked side by side: each connection is
	// a handshake of its own.
	atOnce = 10
)

// controlPlanes are the machines of that role, in the order of the plan.
func (s *Session) controlPlanes() (out []v1alpha1.BootstrapMachineStatus) {
	for _, m := range s.Status.Machines {
		if m.Role == v1alpha1.RoleControlPlane {
			out = append(out, m)
		}
	}
	return out
}

// talos is the client of the nodes' Talos API.
func (s *Session) talos() (*talos.Client, error) {
	if s.access.client == nil {
		c, err := talos.NewClient(s.access.talosconfig, s.Dial)
		if err != nil {
			return nil, err
		}
		s.access.client = c.Through(s.route)
	}
	return s.access.client, nil
}

type reply[T any] struct {
	from   int
	answer T
	err    error
}

// fromAny asks all control planes side by side and takes the first answer. If
// none has one, it returns what the first of them said. One that is slow is as
// good as any: it is waited for, though others have refused.
func fromAny[T any](ctx context.Context, s *Session, ask func(ctx context.Context, address string) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	all := slices.DeleteFunc(s.controlPlanes(), func(m v1alpha1.BootstrapMachineStatus) bool { return m.IPAddress == "" })
	replies := make(chan reply[T], len(all))
	for i, m := range all {
		go func() {
			answer, err := ask(ctx, m.IPAddress)
			replies <- reply[T]{i, answer, err}
		}()
	}
	refusals := make([]error, len(all))
	for range all {
		r := <-replies
		if r.err == nil {
			return r.answer, nil
		}
		refusals[r.from] = fmt.Errorf("%s (%s): %w", all[r.from].Name, all[r.from].IPAddress, r.err)
	}
	return *new(T), firstRefusal(refusals)
}

// firstRefusal is the first word, or else the first silence.
func firstRefusal(all []error) error {
	if len(all) == 0 {
		return errors.New("there is no control plane")
	}
	for _, err := range all {
		if !strings.Contains(step.Stable(err), step.NoAnswer) {
			return err
		}
	}
	return all[0]
}
