// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/talos"
)

// openCluster connects to the new cluster before the walk comes to the step that does.
func (s *Session) openCluster(ctx context.Context) (err error) {
	if s.kubernetes.kubeconfig, err = s.readSecret(ctx, SecretKubeconfig); err != nil {
		return err
	}
	o, err := awaitKubernetes(ctx, s)
	if o != nil {
		return errors.New(o.Message)
	}
	return err
}

// members are those of etcd, with a client to ask more.
func (s *Session) members(ctx context.Context) (_ []talos.Member, _ *talos.Client, err error) {
	if s.access.talosconfig, err = s.readSecret(ctx, SecretTalosconfig); err != nil {
		return nil, nil, err
	}
	client, err := s.talos()
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	members, err := fromAny(ctx, s, client.Members)
	return members, client, err
}

// memberOf finds the member of a machine by its name. One that never ran has none
// yet, and is found by its address.
func (s *Session) memberOf(i int) func(talos.Member) bool {
	address := ""
	if r := s.machines.requests[i]; r != nil {
		address = s.addressOf(r, "")
	}
	return func(m talos.Member) bool {
		return m.Hostname == s.Plan.Machines[i].Name || m.Hostname == "" && m.Address == address
	}
}

// etcdNeeds is why etcd cannot do without the member of a control plane: the
// others have to be a majority both before and after it is taken off the list.
func (s *Session) etcdNeeds(ctx context.Context, i int) string {
	members, client, err := s.members(ctx)
	if err != nil {
		return "etcd does not answer" + step.Because(err)
	}
	return minorityWithout(members, s.memberOf(i), func(other string) bool { return s.etcdUp(ctx, client, other) })
}

// minorityWithout returns why the other members are no majority, empty if they are.
func minorityWithout(members []talos.Member, goes func(talos.Member) bool, up func(string) bool) string {
	healthy := 0
	for _, m := range members {
		switch {
		case goes(m):
		case m.Learner:
			return fmt.Sprintf("%s has joined etcd, but is not a voting member yet", cmp.Or(m.Hostname, m.Address))
		case up(m.Hostname):
			healthy++
		}
	}
	if healthy*2 <= len(members) {
		return fmt.Sprintf("etcd has %d members, of which only %d are healthy without it", len(members), healthy)
	}
	return ""
}

func (s *Session) etcdUp(ctx context.Context, client *talos.Client, name string) bool {
	for _, m := range s.controlPlanes() {
		if m.Name == name && m.IPAddress != "" {
			return serviceUp(ctx, client, m.IPAddress, "etcd") == nil
		}
	}
	return false
}

// removeMember takes the member of a control plane off the list of etcd, by way of
// another one. It may be asked again.
func (s *Session) removeMember(ctx context.Context, i int) error {
	members, client, err := s.members(ctx)
	if err != nil {
		return err
	}
	goes := s.memberOf(i)
	for _, m := range members {
		if goes(m) {
			err = errors.Join(err, s.removeByAnother(ctx, client, m))
		}
	}
	return err
}

func (s *Session) removeByAnother(ctx context.Context, client *talos.Client, gone talos.Member) (err error) {
	ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
	defer cancel()
	err = errors.New("there is no other control plane")
	for _, m := range s.controlPlanes() {
		if m.Name == gone.Hostname || m.IPAddress == "" || !s.etcdUp(ctx, client, m.Name) {
			continue
		}
		if err = client.RemoveMember(ctx, m.IPAddress, gone.ID); err == nil {
			return nil
		}
	}
	return err
}
