// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/table"
)

// state is everything that exists in the account.
type state struct {
	vpcs          *table.Table[vpc]
	subnets       *table.Table[subnet]
	routes        *table.Table[routeTable]
	gateways      *table.Table[gateway]
	groups        *table.Table[group]
	images        *table.Table[image]
	keyPairs      *table.Table[keyPair]
	instances     *table.Table[instance]
	volumes       *table.Table[volume]
	interfaces    *table.Table[networkInterface]
	addresses     *table.Table[address]
	balancers     *table.Table[balancer]
	targetGroups  *table.Table[targetGroup]
	listeners     *table.Table[listener]
	principals    *table.Table[principal]
	sessions      *table.Table[session]
	requestTokens *table.Table[requestToken]
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

func open[T any](t **table.Table[T], dir, kind string, log *slog.Logger, problems *[]error) {
	opened, err := table.Open[T](filepath.Join(dir, kind), log)
	*t, *problems = opened, append(*problems, err)
}

// snapshot returns a copy for reads of the past. Callers and their keys are the present
// ones.
func (s *state) snapshot() *state {
	return &state{
		vpcs: s.vpcs.Snapshot(), subnets: s.subnets.Snapshot(), routes: s.routes.Snapshot(), gateways: s.gateways.Snapshot(),
		groups: s.groups.Snapshot(), images: s.images.Snapshot(), keyPairs: s.keyPairs.Snapshot(), instances: s.instances.Snapshot(),
		volumes: s.volumes.Snapshot(), interfaces: s.interfaces.Snapshot(), addresses: s.addresses.Snapshot(),
		balancers: s.balancers.Snapshot(), targetGroups: s.targetGroups.Snapshot(), listeners: s.listeners.Snapshot(),
		principals: s.principals, sessions: s.sessions, requestTokens: s.requestTokens,
	}
}

// requestToken is what a client token was used for.
type requestToken struct {
	Digest  string // of the parameters
	Objects []string
	Used    time.Time
}
