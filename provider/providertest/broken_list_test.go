// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"context"
	"slices"

	"github.com/butlerdotdev/butler/provider"
)

// listBreakages break what a list returns, and who is named as the sender.
func listBreakages() []breakage {
	return []breakage{
		{"list by cluster name", "the name is not looked for", nameIgnored},
		{"list by cluster name", "the name alone counts", onlyTheName},
		{"the cluster's name decides nothing", "under another name it is another machine", nameCounts},
		{"the cluster's name decides nothing", "all machines of the name are deleted", deleteByCluster},
		{"list reports all parts", "there are none", func(b bench) {
			b.listing(func(m *provider.Machine) { m.Parts = nil })
		}},
		{"list reports all parts", "the disk is not reported", func(b bench) {
			b.listing(func(m *provider.Machine) { m.Parts = m.Parts[:max(0, min(1, len(m.Parts)-1))] })
		}},
		{ruleListing, "it has no addresses", func(b bench) {
			b.listingAll(func(all []provider.Machine) []provider.Machine {
				for i := range all {
					all[i].Addresses = nil
				}
				return all
			})
		}},
		{ruleListing, "it leaves out what is not complete", func(b bench) {
			b.listingAll(func(all []provider.Machine) []provider.Machine {
				return slices.DeleteFunc(all, func(m provider.Machine) bool { return m.State == provider.StatePartial })
			})
		}},
		{ruleListing, "a machine comes twice", func(b bench) {
			b.listingAll(func(all []provider.Machine) []provider.Machine { return slices.Concat(all, all) })
		}},
		{"agent on every request", "it is not named", func(b bench) {
			inner := b.suite.Provider.Connect
			b.suite.Provider.Connect = func(ctx context.Context, c provider.Config) (provider.Platform, error) {
				c.Transport.Agent = ""
				return inner(ctx, c)
			}
		}},
		{"load balancer list", "clusters are not looked for", func(b bench) {
			b.balancing(func(lb *bentBalancers) {
				lb.list = func(ctx context.Context, o provider.Owner) ([]provider.LoadBalancer, error) {
					if o.ID == "" && o != (provider.Owner{}) {
						return nil, nil
					}
					return lb.LoadBalancers.List(ctx, o)
				}
			})
		}},
	}
}

// observing changes what is observed of a machine.
func (b bench) observing(change func(*provider.Machine)) {
	b.bend(func(m *bent) {
		m.observe = func(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
			r, err := m.Machines.Observe(ctx, ref)
			change(&r)
			return r, err
		}
	})
}

// listing changes every machine of a list.
func (b bench) listing(change func(*provider.Machine)) {
	b.bend(func(m *bent) {
		m.list = func(ctx context.Context, o provider.Owner) ([]provider.Machine, error) {
			all, err := m.Machines.List(ctx, o)
			for i := range all {
				change(&all[i])
			}
			return all, err
		}
	})
}

func nameIgnored(b bench) {
	b.bend(func(m *bent) {
		m.list = func(ctx context.Context, o provider.Owner) ([]provider.Machine, error) {
			ids := provider.Owner{ID: o.ID, ClusterID: o.ClusterID}
			if ids == (provider.Owner{}) && o.Cluster != "" {
				return nil, ctx.Err()
			}
			return m.Machines.List(ctx, ids)
		}
	})
}

func onlyTheName(b bench) {
	b.bend(func(m *bent) {
		m.list = func(ctx context.Context, o provider.Owner) ([]provider.Machine, error) {
			if o.Cluster != "" && o.ID == "" {
				o.ClusterID = ""
			}
			return m.Machines.List(ctx, o)
		}
	})
}

func nameCounts(b bench) {
	b.bend(func(m *bent) {
		m.observe = func(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
			r, err := m.Machines.Observe(ctx, ref)
			if err == nil && r.Ref.Owner.Cluster != ref.Owner.Cluster {
				return provider.Machine{Ref: ref, State: provider.StateAbsent}, nil
			}
			return r, err
		}
	})
}

func deleteByCluster(b bench) {
	b.bend(func(m *bent) {
		m.remove = func(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
			all, _ := b.p.List(ctx, provider.Owner{Cluster: ref.Owner.Cluster})
			for _, other := range all {
				if other.Ref != ref {
					_, _ = b.p.Delete(ctx, other.Ref)
				}
			}
			return m.Machines.Delete(ctx, ref)
		}
	})
}
