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
	"github.com/butlerdotdev/butler/internal/version"
)

// Program is the main body of butler-bootstrap. Its flags say where addons come from, and
// which images of this project are pinned.
func Program(dial talos.Dialer, addons source.Options) program.Program {
	var digests map[string]string
	return program.Program{
		Name: "butler-bootstrap",
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&addons.Charts, "charts", source.Upstream, "where charts come from: a directory, oci://registry/path, or upstream")
			f.Func("image-digests", "digests that pin the images of this version, as `NAME=sha256:…,…`", func(text string) (err error) {
				digests, err = version.ParseDigests(text)
				return err
			})
		},
		Register: func(m manager.Manager) error {
			if strings.HasPrefix(addons.Charts, "oci://") {
				addons.HTTP = nil // the user has named it: a rehearsal, too, reaches it for real
			}
			s, err := source.New(addons)
			if err != nil {
				return err
			}
			return Register(m, Options{Dial: dial, Addons: s, Digests: digests})
		},
	}
}
