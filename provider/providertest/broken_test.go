// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/butlerdotdev/butler/provider"
)

// breakage is a way to break exactly one rule.
type breakage struct {
	rule, how string
	apply     func(bench)
}

func breakages() []breakage {
	return append([]breakage{
		{"create", "the size is ignored", func(b bench) { b.alter(func(s *provider.MachineSpec) { s.CPU = 1 }) }},
		{"repeat create", "a second machine is made", secondMachine},
		{ruleLostResponse, "a second machine is made", machineAfterLoss},
		{rulePartial, "half a machine stays half", endlessHalf},
		{"observe absent", "a missing machine is an error", missingIsAnError},
		{"address appears", "the address is link-local", linkLocal},
		{"kubelet provider id", "there is none", func(b bench) { b.identifying(func(provider.MachineRef) string { return "" }) }},
		{"kubelet provider id", "it has no scheme", func(b bench) { b.identifying(func(ref provider.MachineRef) string { return ref.Name }) }},
		{"kubelet provider id", "all machines have the same", func(b bench) { b.identifying(func(provider.MachineRef) string { return "in-memory://machine" }) }},
		{"kubelet provider id", "Observe and List differ", func(b bench) {
			b.identifying(func(ref provider.MachineRef) string { return "in-memory://" + ref.Name })
		}},
		{"delete", "a disk is left", diskLeft},
		{"repeat delete", "what is gone cannot be deleted", goneIsAnError},
		{"delete of what never existed", "what is unknown cannot be deleted", unknownIsAnError},
		{"foreign machine of the same name", "the first machine of the name is deleted", deleteByName},
		{"two requests for one name", "the other request's machine is adopted", adopt},
		{ruleThrottled, "throttling is final", func(b bench) {
			b.failing(func(_ provider.MachineSpec, e *provider.Error) {
				if e.Reason == "Throttled" {
					e.Kind = provider.Invalid
				}
			})
		}},
		{ruleThrottled, "the text has a request id", requestID},
		{ruleDenied, "what may not be read is absent", deniedIsAbsent},
		{ruleCapacity, "no capacity is no network", func(b bench) {
			b.failing(func(_ provider.MachineSpec, e *provider.Error) {
				if e.Kind == provider.Exhausted {
					e.Kind = provider.Unavailable
				}
			})
		}},
		{ruleMissing, "another image is taken", func(b bench) { b.alter(func(s *provider.MachineSpec) { s.Image = knownImage }) }},
		{"extra disks", "they are ignored", func(b bench) { b.alter(func(s *provider.MachineSpec) { s.ExtraDisks = nil }) }},
		{"user data", "it is cut off", func(b bench) {
			b.alter(func(s *provider.MachineSpec) { s.UserData = s.UserData[:min(len(s.UserData), 2048)] })
		}},
		{"labels", "they are ignored", func(b bench) { b.alter(func(s *provider.MachineSpec) { s.Labels = nil }) }},
		{ruleRefused, "the field is ignored", func(b bench) {
			b.alter(func(s *provider.MachineSpec) {
				if s.Network == nil {
					s.NetworkData = ""
				}
			})
		}},
	}, furtherBreakages()...)
}

// secondMachine makes another machine when a create that succeeded is repeated.
func secondMachine(b bench) {
	made := newMemory()
	b.bend(func(m *bent) {
		m.create = func(ctx context.Context, s provider.MachineSpec) (provider.Machine, error) {
			if made.has(s.Owner.ID) {
				b.p.CreateConflict(s.MachineRef)
			}
			r, err := m.Machines.Create(ctx, s)
			made.set(s.Owner.ID, err == nil && r.State != provider.StatePartial)
			return r, err
		}
	})
}

// machineAfterLoss makes another machine after an answer was lost.
func machineAfterLoss(b bench) {
	lost := newMemory()
	b.bend(func(m *bent) {
		m.create = func(ctx context.Context, s provider.MachineSpec) (provider.Machine, error) {
			if lost.has(s.Owner.ID) {
				b.p.CreateConflict(s.MachineRef)
			}
			r, err := m.Machines.Create(ctx, s)
			lost.set(s.Owner.ID, err != nil && provider.ReasonOf(err) == "AnswerLost")
			return r, err
		}
	})
}

func endlessHalf(b bench) {
	b.bend(func(m *bent) {
		m.create = func(ctx context.Context, s provider.MachineSpec) (provider.Machine, error) {
			if there, err := m.Machines.Observe(ctx, s.MachineRef); err == nil && there.State == provider.StatePartial {
				return there, nil
			}
			return m.Machines.Create(ctx, s)
		}
	})
}

func missingIsAnError(b bench) {
	made := newMemory()
	b.bend(func(m *bent) {
		m.create = func(ctx context.Context, s provider.MachineSpec) (provider.Machine, error) {
			made.set(s.Name, true)
			return m.Machines.Create(ctx, s)
		}
		m.observe = func(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
			r, err := m.Machines.Observe(ctx, ref)
			if err == nil && r.State == provider.StateAbsent && !made.has(ref.Name) {
				return r, refusal(provider.Invalid, "NotFound")
			}
			return r, err
		}
	})
}

// identifying changes the NodeProviderID that Observe reports.
func (b bench) identifying(id func(provider.MachineRef) string) {
	b.bend(func(m *bent) {
		m.observe = func(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
			r, err := m.Machines.Observe(ctx, ref)
			r.NodeProviderID = id(ref)
			return r, err
		}
	})
}

func linkLocal(b bench) {
	b.bend(func(m *bent) {
		m.observe = func(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
			r, err := m.Machines.Observe(ctx, ref)
			if s, _ := b.p.Spec(ref.Name); len(r.Addresses) > 0 && s.Network == nil {
				r.Addresses = []netip.Addr{netip.MustParseAddr("169.254.7.7")}
			}
			return r, err
		}
	})
}

// leaky leaves a disk of every machine that is gone.
type leaky struct {
	*operator
	made *memory
}

func (l *leaky) Inspect(ctx context.Context, name string) (View, error) {
	s, err := l.operator.Inspect(ctx, name)
	if len(s.Machines) == 0 && len(s.Parts) == 0 && l.made.has(name) {
		s.Parts = append(s.Parts, "disk of "+name)
	}
	return s, err
}

func diskLeft(b bench) {
	l := &leaky{&operator{b.p}, newMemory()}
	b.suite.Operator = l
	b.bend(func(m *bent) {
		m.create = func(ctx context.Context, s provider.MachineSpec) (provider.Machine, error) {
			r, err := m.Machines.Create(ctx, s)
			l.made.set(s.Name, err == nil)
			return r, err
		}
	})
}

func goneIsAnError(b bench) {
	deleted := newMemory()
	b.bend(func(m *bent) {
		m.remove = func(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
			if deleted.has(ref.Name + ref.Owner.ID) {
				return provider.Machine{}, refusal(provider.Invalid, "NotFound")
			}
			_, existed := b.p.Spec(ref.Name)
			left, err := m.Machines.Delete(ctx, ref)
			deleted.set(ref.Name+ref.Owner.ID, err == nil && existed && left.State == provider.StateAbsent)
			return left, err
		}
	})
}

func unknownIsAnError(b bench) {
	b.bend(func(m *bent) {
		deleted := newMemory()
		m.remove = func(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
			left, err := m.Machines.Delete(ctx, ref)
			if err == nil && !deleted.has(ref.Name) && len(b.p.Sightings(ref.Name)) == 0 {
				return provider.Machine{}, refusal(provider.Invalid, "NotFound")
			}
			deleted.set(ref.Name, true)
			return left, err
		}
	})
}

func deleteByName(b bench) {
	b.bend(func(m *bent) {
		m.remove = func(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
			for _, s := range b.p.Sightings(ref.Name) {
				if s.Ref.Owner.ID == "" {
					b.p.Remove(ref.Name)
				}
			}
			return m.Machines.Delete(ctx, ref)
		}
	})
}

func adopt(b bench) {
	b.bend(func(m *bent) {
		m.create = func(ctx context.Context, s provider.MachineSpec) (provider.Machine, error) {
			for _, other := range b.p.Sightings(s.Name) {
				if other.Ref.Owner.ID != "" && other.Ref.Owner != s.Owner {
					return other.Machine, nil
				}
			}
			return m.Machines.Create(ctx, s)
		}
	})
}

func requestID(b bench) {
	calls := 0
	b.bend(func(m *bent) {
		m.observe = func(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
			r, err := m.Machines.Observe(ctx, ref)
			calls++
			if err != nil && provider.ReasonOf(err) == "Throttled" {
				err = &provider.Error{Kind: provider.Unavailable, Reason: "Throttled", Op: "observe", Err: fmt.Errorf("request %d", calls)}
			}
			return r, err
		}
	})
}

func deniedIsAbsent(b bench) {
	b.bend(func(m *bent) {
		m.observe = func(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
			r, err := m.Machines.Observe(ctx, ref)
			if err != nil && provider.KindOf(err) == provider.Unauthorized {
				return provider.Machine{Ref: ref, State: provider.StateAbsent}, nil
			}
			return r, err
		}
	})
}
