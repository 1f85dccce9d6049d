// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/butlerdotdev/butler/provider"
)

func furtherBreakages() []breakage {
	return []breakage{
		{"list by owner", "clusters are not looked for", byRequestOnly},
		{"slow list", "what was not answered is empty", emptyList},
		{"task that fails late", "a failed task is a wait", func(b bench) {
			b.bend(func(m *bent) {
				m.observe = func(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
					r, err := m.Machines.Observe(ctx, ref)
					if r.State == provider.StateBroken {
						r.State = provider.StatePending
					}
					return r, err
				}
			})
		}},
		{"task that fails late", "a delete that was accepted is done", acceptedIsDone},
		{"survives a drain", "a drained machine stays off", func(b bench) {
			b.observing(func(r *provider.Machine) {
				if b.p.Drained(r.Ref.Name) && r.State == provider.StateRunning {
					r.State, r.Message = provider.StateStopped, "its host was drained"
				}
			})
		}},
		{"survives a drain", "another machine takes its place", func(b bench) {
			b.observing(func(r *provider.Machine) {
				if b.p.Drained(r.Ref.Name) {
					r.ID += "-again"
				}
			})
		}},
		{"identity", "the platform is not identified", func(b bench) {
			b.connecting(func(p *provider.Platform) { p.Identity = "" })
		}},
		{"identity", "every platform is the same", func(b bench) {
			b.connecting(func(p *provider.Platform) { p.Identity = "endpoint=in-memory" })
		}},
		{"identity", "an open connection knows its first platform alone", func(b bench) {
			b.connecting(func(p *provider.Platform) {
				first := p.Identity
				p.Identify = func(context.Context) (provider.Identity, error) { return first, nil }
			})
		}},
		{"identity", "every connection is another platform", func(b bench) {
			n := 0
			b.connecting(func(p *provider.Platform) { n++; p.Identity = provider.Identity(fmt.Sprintf("connection=%d", n)) })
		}},
		{"context cancelled", "the context is ignored", func(b bench) {
			b.bend(func(m *bent) {
				m.observe = func(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
					return m.Machines.Observe(context.WithoutCancel(ctx), ref)
				}
			})
		}},
		{"no byte outside Config.Transport", "an own dialer is used", ownDialer},
		{"no byte outside Config.Transport", "the default transport is used", defaultTransport},
		{"no secret in any error or log line", "an error quotes user data", func(b bench) {
			b.failing(func(s provider.MachineSpec, e *provider.Error) {
				e.Err = errors.New("cannot make " + s.UserData.Reveal())
			})
		}},
		{"no secret in any error or log line", "a log line has the credentials", func(b bench) {
			inner := b.suite.Provider.Connect
			b.suite.Provider.Connect = func(ctx context.Context, c provider.Config) (provider.Platform, error) {
				slog.Debug("connect", "token", string(c.Credentials.Get("token")))
				return inner(ctx, c)
			}
		}},
		{"load balancer ensure", "the port is ignored", func(b bench) {
			b.balancing(func(lb *bentBalancers) {
				lb.ensure = func(ctx context.Context, s provider.LoadBalancerSpec) (provider.LoadBalancer, error) {
					s.Port = 443
					return lb.LoadBalancers.Ensure(ctx, s)
				}
			})
		}},
		{"load balancer targets change", "targets are only added", onlyAdded},
		{"load balancer ports change", "further ports are ignored", func(b bench) {
			b.balancing(func(lb *bentBalancers) {
				lb.ensure = func(ctx context.Context, s provider.LoadBalancerSpec) (provider.LoadBalancer, error) {
					s.AdditionalPorts = nil
					return lb.LoadBalancers.Ensure(ctx, s)
				}
			})
		}},
		{"load balancer ports change", "all clients may connect", func(b bench) {
			b.balancing(func(lb *bentBalancers) {
				lb.ensure = func(ctx context.Context, s provider.LoadBalancerSpec) (provider.LoadBalancer, error) {
					s.AllowedCIDRs = nil
					return lb.LoadBalancers.Ensure(ctx, s)
				}
			})
		}},
		{"load balancer partial", "half a load balancer stays half", func(b bench) {
			b.balancing(func(lb *bentBalancers) {
				lb.ensure = func(ctx context.Context, s provider.LoadBalancerSpec) (provider.LoadBalancer, error) {
					if there, err := lb.Observe(ctx, s.LoadBalancerRef); err == nil && there.State == provider.StatePartial {
						return there, nil
					}
					return lb.LoadBalancers.Ensure(ctx, s)
				}
			})
		}},
		{"load balancer delete", "the target group is left", func(b bench) { b.suite.LoadBalancers = &leakyBalancers{&operator{b.p}} }},
		{"load balancer repeat", "what is gone cannot be deleted", func(b bench) {
			b.balancing(func(lb *bentBalancers) {
				lb.remove = func(ctx context.Context, ref provider.LoadBalancerRef) error {
					if there, err := lb.Observe(ctx, ref); err == nil && there.State == provider.StateAbsent && len(b.p.LoadBalancers()) == 0 {
						return refusal(provider.Invalid, "NotFound")
					}
					return lb.LoadBalancers.Delete(ctx, ref)
				}
			})
		}},
	}
}

func byRequestOnly(b bench) {
	b.bend(func(m *bent) {
		m.list = func(ctx context.Context, o provider.Owner) ([]provider.Machine, error) {
			if o.ID == "" && o.ClusterID != "" && o.Cluster == "" {
				return nil, nil
			}
			return m.Machines.List(ctx, o)
		}
	})
}

func emptyList(b bench) {
	b.bend(func(m *bent) {
		m.list = func(ctx context.Context, o provider.Owner) ([]provider.Machine, error) {
			if ctx.Err() != nil {
				return m.Machines.List(ctx, o)
			}
			all, err := m.Machines.List(ctx, o)
			if errors.Is(err, context.DeadlineExceeded) {
				err = nil
			}
			return all, err
		}
	})
}

// acceptedIsDone remembers deletes whose task is going to fail as done.
func acceptedIsDone(b bench) {
	failing := &lateOperator{operator: &operator{b.p}, done: newMemory()}
	b.suite.Operator = failing
	b.bend(func(m *bent) {
		m.remove = func(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
			failing.done.set(ref.Name, failing.active)
			return m.Machines.Delete(ctx, ref)
		}
		m.observe = func(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
			if failing.done.has(ref.Name) {
				return provider.Machine{Ref: ref, State: provider.StateAbsent}, nil
			}
			return m.Machines.Observe(ctx, ref)
		}
	})
}

// lateOperator knows while deletes fail late.
type lateOperator struct {
	*operator
	active bool
	done   *memory
}

func (l *lateOperator) Inject(ctx context.Context, f Fault) (func(), error) {
	lift, err := l.operator.Inject(ctx, f)
	l.active = f == DeleteFailsLate
	return func() { l.active = false; lift() }, err
}

func ownDialer(b bench) {
	inner := b.suite.Provider.Connect
	b.suite.Provider.Connect = func(ctx context.Context, c provider.Config) (provider.Platform, error) {
		c.Transport.DialContext = b.p.Dial
		return inner(ctx, c)
	}
}

func defaultTransport(b bench) {
	inner := b.suite.Provider.Connect
	b.suite.Provider.Connect = func(ctx context.Context, c provider.Config) (provider.Platform, error) {
		if r, ok := http.DefaultTransport.(*http.Transport); ok && r.Proxy == nil { // only ours has none
			response, err := http.Get("http://token.example/")
			if err == nil {
				_ = response.Body.Close()
			}
		}
		return inner(ctx, c)
	}
}

func onlyAdded(b bench) {
	all := map[string][]provider.Target{}
	b.balancing(func(lb *bentBalancers) {
		lb.ensure = func(ctx context.Context, s provider.LoadBalancerSpec) (provider.LoadBalancer, error) {
			for _, t := range s.Targets {
				known := false
				for _, k := range all[s.Name] {
					known = known || k.ID == t.ID
				}
				if !known {
					all[s.Name] = append(all[s.Name], t)
				}
			}
			s.Targets = all[s.Name]
			return lb.LoadBalancers.Ensure(ctx, s)
		}
	})
}

// leakyBalancers leaves a target group of everything that is gone.
type leakyBalancers struct{ *operator }

func (l *leakyBalancers) InspectBalancers(ctx context.Context, name string) (BalancerView, error) {
	s, err := l.operator.InspectBalancers(ctx, name)
	if len(s.Balancers) == 0 {
		s.Parts = append(s.Parts, "target group of "+name)
	}
	return s, err
}
