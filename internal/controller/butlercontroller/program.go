// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package butlercontroller is the main body of butler-controller.
package butlercontroller

import (
	"flag"
	"net"
	"os"
	"runtime/debug"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/butlerdotdev/butler/internal/addon/source"
	"github.com/butlerdotdev/butler/internal/controller/butlerconfig"
	"github.com/butlerdotdev/butler/internal/controller/ipallocation"
	"github.com/butlerdotdev/butler/internal/controller/program"
	"github.com/butlerdotdev/butler/internal/controller/team"
	"github.com/butlerdotdev/butler/internal/controller/tenantcluster"
	"github.com/butlerdotdev/butler/internal/talos"
)

// Name of the program, and of the controller in events.
const Name = "butler-controller"

// gcPercent has the collector run twice as often as by default: this program has connections to all
// tenants and hardly any work, so memory counts and time does not.
const gcPercent = 50

// trustdTag is that of the image that Steward serves the Talos API's certificates with.
const trustdTag = "v0.4.0"

// Program looks after the platform of a management cluster, allocates addresses and creates
// tenant clusters. Where the addons of these come from is asked with --charts.
func Program(dial talos.Dialer, names *net.Resolver, addons source.Options) program.Program {
	trustd := trustdTag
	return program.Program{
		Name: Name,
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&addons.Charts, "charts", source.Upstream, "where charts of tenant clusters come from: a directory, oci://registry/path, or upstream")
			f.StringVar(&trustd, "trustd-tag", trustdTag, "`tag` of the image that Steward serves the Talos API's certificates with")
		},
		Register: func(m manager.Manager) error {
			if os.Getenv("GOGC") == "" {
				debug.SetGCPercent(gcPercent)
			}
			if strings.HasPrefix(addons.Charts, "oci://") {
				addons.HTTP = nil // the user has named it: a rehearsal, too, reaches it for real
			}
			from, err := source.New(addons)
			if err != nil {
				return err
			}
			if err := butlerconfig.Register(m); err != nil {
				return err
			}
			if err := team.Register(m); err != nil {
				return err
			}
			if err := tenantcluster.Register(m, tenantcluster.Options{Dial: dial, Lookup: tenantcluster.LookupWith(names), Addons: from, TrustdTag: trustd}); err != nil {
				return err
			}
			return ipallocation.Register(m, ipallocation.Options{Name: Name})
		},
	}
}
