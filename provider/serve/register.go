// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package serve is the main body of every provider binary, and lets another
// process host a provider's reconcilers.
package serve

import (
	"cmp"
	"flag"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/butlerdotdev/butler/internal/controller/loadbalancerrequest"
	"github.com/butlerdotdev/butler/internal/controller/machinerequest"
	"github.com/butlerdotdev/butler/internal/controller/metric"
	"github.com/butlerdotdev/butler/internal/controller/orphan"
	"github.com/butlerdotdev/butler/internal/controller/program"
	"github.com/butlerdotdev/butler/internal/controller/providerconfig"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/internal/controller/session"
	"github.com/butlerdotdev/butler/internal/version"
	"github.com/butlerdotdev/butler/provider"
)

// Options change how a provider is served.
type Options struct {
	// Transport carries every byte that the driver sends; the zero value is the
	// ordinary network.
	Transport provider.Transport
	// NoAmbient forbids credentials of the environment, as in a rehearsal.
	NoAmbient bool
	// Credentials are the Secrets that credentials are read from; the zero value is
	// all of them.
	Credentials program.Credentials
	// Clock is the time of the reconcilers; nil is the machine's own.
	Clock func() time.Time
	// DeleteOrphans removes from the platform what no request owns, once it was
	// seen for OrphanGrace; otherwise it is reported only.
	DeleteOrphans bool
	// OrphanGrace is DefaultOrphanGrace where it is zero.
	OrphanGrace time.Duration
	// OrphanEvery is how often to look for orphans; zero is once a minute.
	OrphanEvery time.Duration
}

// DefaultOrphanGrace is how long an orphan stays before it may be deleted.
const DefaultOrphanGrace = orphan.DefaultGrace

// Program is the main body of a provider's binary.
func Program(p provider.Provider) program.Program { return ProgramWith(p, Options{}) }

// ProgramWith is a Program that is served differently. Its flags count before
// the options.
func ProgramWith(p provider.Provider, o Options) program.Program {
	return program.Program{
		Name:        name(p),
		Credentials: &o.Credentials,
		Flags: func(f *flag.FlagSet) {
			f.BoolVar(&o.DeleteOrphans, "delete-orphans", o.DeleteOrphans, "delete what has a cluster's id on the platform, but no request; it is reported in any case")
			f.DurationVar(&o.OrphanGrace, "orphan-grace", cmp.Or(o.OrphanGrace, DefaultOrphanGrace), "how long after it was first seen an orphan may be deleted")
		},
		Register: func(m manager.Manager) error {
			if o.OrphanGrace <= 0 {
				return fmt.Errorf("--orphan-grace is %s: a request needs time to appear, so it must be more than nothing", o.OrphanGrace)
			}
			return Register(m, p, o)
		},
	}
}

// Register adds all reconcilers of a provider to a manager, whose scheme must
// hold what program.Scheme returns.
func Register(m manager.Manager, p provider.Provider, o Options) error {
	if o.Transport.Agent == "" {
		o.Transport.Agent = version.Agent(name(p))
	}
	recorded, err := metric.In(metrics.Registry)
	if err != nil {
		return err
	}
	s := session.New(session.Options{
		Provider: p, Transport: o.Transport, NoAmbient: o.NoAmbient, Cache: m.GetClient(), Live: m.GetAPIReader(),
		Readable: o.Credentials, Metrics: recorded,
	})
	if err := m.Add(s); err != nil {
		return err
	}
	shared := request.Options{Type: p.Type, Sessions: s, Clock: o.Clock, Metrics: recorded}
	for _, register := range []func(manager.Manager, request.Options) error{
		machinerequest.Register, loadbalancerrequest.Register, providerconfig.Register,
	} {
		if err := register(m, shared); err != nil {
			return err
		}
	}
	return orphan.Register(m, orphan.Options{Options: shared, Delete: o.DeleteOrphans, Grace: o.OrphanGrace, Every: o.OrphanEvery})
}

func name(p provider.Provider) string { return "butler-provider-" + string(p.Type) }
