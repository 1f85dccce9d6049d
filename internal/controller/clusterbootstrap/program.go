// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"flag"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/butlerdotdev/butler/internal/addon/source"
	"github.com/butlerdotdev/butler/internal/controller/program"
	"github.com/butlerdotdev/butler/internal/talos"
)

// Program is the main body of butler-bootstrap. Where addons come from is asked
// with --charts.
func Program(dial talos.Dialer, addons source.Options) program.Program {
	return program.Program{
		Name: "butler-bootstrap",
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&addons.Charts, "charts", source.Upstream, "where charts come from: a directory, oci://registry/path, or upstream")
		},
		Register: func(m manager.Manager) error {
			if strings.HasPrefix(addons.Charts, "oci://") {
				addons.HTTP = nil // the user has named it: a rehearsal, too, reaches it for real
			}
			s, err := source.New(addons)
			if err != nil {
				return err
			}
			return Register(m, Options{Dial: dial, Addons: s})
		},
	}
}
