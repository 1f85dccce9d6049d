// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"errors"
	"log/slog"
	"path/filepath"
	"time"
)

// state is everything that exists in the account.
type state struct {
	vpcs          *table[vpc]
	subnets       *table[subnet]
	routes        *table[routeTable]
	gateways      *table[gateway]
	groups        *table[group]
	images        *table[image]
	keyPairs      *table[keyPair]
	instances     *table[instance]
	volumes       *table[volume]
	interfaces    *table[networkInterface]
	addresses     *table[address]
	balancers     *table[balancer]
	targetGroups  *table[targetGroup]
	listeners     *table[listener]
	principals    *table[principal]
	sessions      *table[session]
	requestTokens *table[requestToken]
}

// tags are the tags of an object.
type tags map[string]string

func openState(dir string, log *slog.Logger) (*state, error) {
	s := &state{}
	var problems []error
	open(&s.vpcs, dir, "vpcs", log, &problems)
	open(&s.subnets, dir, "subnets", log, &problems)
	open(&s.routes, dir, "routes", log, &problems)
	open(&s.gateways, dir, "gateways", log, &problems)
	open(&s.groups, dir, "groups", log, &problems)
	open(&s.images, dir, "images", log, &problems)
	open(&s.keyPairs, dir, "keypairs", log, &problems)
	open(&s.instances, dir, "instances", log, &problems)
	open(&s.volumes, dir, "volumes", log, &problems)
	open(&s.interfaces, dir, "interfaces", log, &problems)
	open(&s.addresses, dir, "addresses", log, &problems)
	open(&s.balancers, dir, "balancers", log, &problems)
	open(&s.targetGroups, dir, "targetgroups", log, &problems)
	open(&s.listeners, dir, "listeners", log, &problems)
	open(&s.principals, dir, "principals", log, &problems)
	open(&s.sessions, dir, "sessions", log, &problems)
	open(&s.requestTokens, dir, "tokens", log, &problems)
	return s, errors.Join(problems...)
}

func open[T any](t **table[T], dir, kind string, log *slog.Logger, problems *[]error) {
	opened, err := openTable[T](filepath.Join(dir, kind), log)
	*t, *problems = opened, append(*problems, err)
}

// snapshot returns a copy for reads of the past. Callers and their keys are the present
// ones.
func (s *state) snapshot() *state {
	return &state{
		vpcs: s.vpcs.snapshot(), subnets: s.subnets.snapshot(), routes: s.routes.snapshot(), gateways: s.gateways.snapshot(),
		groups: s.groups.snapshot(), images: s.images.snapshot(), keyPairs: s.keyPairs.snapshot(), instances: s.instances.snapshot(),
		volumes: s.volumes.snapshot(), interfaces: s.interfaces.snapshot(), addresses: s.addresses.snapshot(),
		balancers: s.balancers.snapshot(), targetGroups: s.targetGroups.snapshot(), listeners: s.listeners.snapshot(),
		principals: s.principals, sessions: s.sessions, requestTokens: s.requestTokens,
	}
}

// requestToken is what a client token was used for.
type requestToken struct {
	Digest  string // of the parameters
	Objects []string
	Used    time.Time
}
