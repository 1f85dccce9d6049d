// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"context"
	"fmt"
	"time"

	"github.com/butlerdotdev/butler/provider"
)

// secondWays break the other halves of rules that demand more than one thing.
func secondWays() []breakage {
	return []breakage{
		{"create", "the machine is invisible for longer than announced", lateToShow},
		{"delete", "the disk of half a machine is left", halfDiskLeft},
		{"delete", "it reports Absent while the platform still deletes", absentTooEarly},
		{"foreign machine of the same name", "a machine without owner is adopted", adoptOrphan},
		{"two requests for one name", "the other request's machine is deleted", deleteOthers},
		{ruleThrottled, "the call waits", waitWhenThrottled},
		{ruleDenied, "what may not be listed is empty", deniedListIsEmpty},
		{ruleMissing, "another network is taken", otherNetwork},
		{"list by owner", "an empty owner has none", emptyOwnerHasNone},
		{"context cancelled", "create continues", func(b bench) {
			b.bend(func(m *bent) {
				m.create = func(ctx context.Context, s provider.MachineSpec) (provider.Machine, error) {
					return m.Machines.Create(context.WithoutCancel(ctx), s)
				}
			})
		}},
		{"no secret in any error or log line", "an error about a load balancer has the credentials", func(b bench) {
			b.balancing(func(lb *bentBalancers) {
				lb.ensure = func(ctx context.Context, s provider.LoadBalancerSpec) (provider.LoadBalancer, error) {
					r, err := lb.LoadBalancers.Ensure(ctx, s)
					if err != nil {
						err = fmt.Errorf("token %s: %w", token, err)
					}
					return r, err
				}
			})
		}},
		{"load balancer ensure", "another request's is taken over", takeOver},
		{"load balancer repeat", "each ensure makes another one", otherBalancer},
	}
}

func lateToShow(b bench) {
	b.bend(func(m *bent) {
		born := newMemory()
		m.create = func(ctx context.Context, s provider.MachineSpec) (provider.Machine, error) {
			r, err := m.Machines.Create(ctx, s)
			if err == nil && r.State == provider.StatePending && !born.has(s.Owner.ID) {
				born.set(s.Owner.ID, true)
				time.AfterFunc(10*time.Millisecond, func() { born.set(s.Owner.ID, false) })
			}
			return r, err
		}
		m.observe = func(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
			r, err := m.Machines.Observe(ctx, ref)
			if err == nil && born.has(ref.Owner.ID) {
				return provider.Machine{Ref: ref, State: provider.StateAbsent}, nil
			}
			return r, err
		}
	})
}

func halfDiskLeft(b bench) {
	l := &leaky{&operator{b.p}, newMemory()}
	b.suite.Operator = l
	b.bend(func(m *bent) {
		m.remove = func(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
			for _, s := range b.p.Sightings(ref.Name) {
				if s.State == provider.StatePartial {
					l.made.set(ref.Name, true)
				}
			}
			return m.Machines.Delete(ctx, ref)
		}
	})
}

// absentTooEarly concerns machines with a second disk: those of the rule.
func absentTooEarly(b bench) {
	b.bend(func(m *bent) {
		m.remove = func(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
			spec, _ := b.p.Spec(ref.Name)
			left, err := m.Machines.Delete(ctx, ref)
			if left.State == provider.StateDeleting && len(spec.ExtraDisks) > 0 {
				left = provider.Machine{Ref: ref, State: provider.StateAbsent}
			}
			return left, err
		}
	})
}

func adoptOrphan(b bench) {
	b.bend(func(m *bent) {
		m.create = func(ctx context.Context, s provider.MachineSpec) (provider.Machine, error) {
			for _, other := range b.p.Sightings(s.Name) {
				if other.Ref.Owner.ID == "" {
					return other.Machine, nil
				}
			}
			return m.Machines.Create(ctx, s)
		}
	})
}

func deleteOthers(b bench) {
	b.bend(func(m *bent) {
		m.remove = func(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
			for _, other := range b.p.Sightings(ref.Name) {
				if other.Ref.Owner.ID != "" {
					ref = other.Ref
				}
			}
			return m.Machines.Delete(ctx, ref)
		}
	})
}

func waitWhenThrottled(b bench) {
	b.bend(func(m *bent) {
		m.remove = func(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
			left, err := m.Machines.Delete(ctx, ref)
			if err != nil && provider.ReasonOf(err) == "Throttled" {
				<-time.After(time.Minute)
			}
			return left, err
		}
	})
}

func deniedListIsEmpty(b bench) {
	b.bend(func(m *bent) {
		m.list = func(ctx context.Context, o provider.Owner) ([]provider.Machine, error) {
			all, err := m.Machines.List(ctx, o)
			if err != nil && provider.KindOf(err) == provider.Unauthorized {
				return nil, nil
			}
			return all, err
		}
	})
}

func otherNetwork(b bench) {
	inner := b.suite.Provider.Connect
	b.suite.Provider.Connect = func(ctx context.Context, c provider.Config) (provider.Platform, error) {
		c.Spec.Harvester.NetworkName = knownNetwork
		return inner(ctx, c)
	}
}

func emptyOwnerHasNone(b bench) {
	b.bend(func(m *bent) {
		m.list = func(ctx context.Context, o provider.Owner) ([]provider.Machine, error) {
			if o == (provider.Owner{}) {
				return nil, nil
			}
			return m.Machines.List(ctx, o)
		}
	})
}

func takeOver(b bench) {
	b.balancing(func(lb *bentBalancers) {
		lb.ensure = func(ctx context.Context, s provider.LoadBalancerSpec) (provider.LoadBalancer, error) {
			for _, other := range b.p.LoadBalancers() {
				if other.Name == s.Name {
					s.Owner = other.Owner
				}
			}
			return lb.LoadBalancers.Ensure(ctx, s)
		}
	})
}

func otherBalancer(b bench) {
	n := 0
	b.balancing(func(lb *bentBalancers) {
		lb.ensure = func(ctx context.Context, s provider.LoadBalancerSpec) (provider.LoadBalancer, error) {
			r, err := lb.LoadBalancers.Ensure(ctx, s)
			n++
			r.ID = fmt.Sprintf("load-balancer-%d", n)
			return r, err
		}
	})
}
