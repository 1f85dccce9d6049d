// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"cmp"
	"fmt"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/talos"
)

func diskName(i int) string { return fmt.Sprintf("disk-%d", i+1) }

// extraDisks are those of a machine besides the root disk, with what its platform reports
// of them.
func (p Plan) extraDisks(m Machine, reported []v1alpha1.MachineDisk) (out []talos.Disk) {
	of := traitsOf(p.Provider)
	for i, spec := range m.Pool.ExtraDisks {
		disk := talos.Disk{Name: diskName(i), SizeGB: spec.SizeGB}
		known := v1alpha1.MachineDisk{LUN: new(int32(i))}
		for _, d := range reported {
			if d.Name == disk.Name {
				disk.Serial, known.LUN = d.Serial, cmp.Or(d.LUN, known.LUN)
			}
		}
		if disk.Serial != "" && of.diskPath != "" {
			disk.Path = fmt.Sprintf(of.diskPath, disk.Serial)
		}
		if of.diskMatch != nil {
			disk.Match = of.diskMatch(disk, *known.LUN)
		}
		out = append(out, disk)
	}
	return out
}

// refuseDisks refuses disks that Talos of this version cannot find.
func (p Plan) refuseDisks(spec v1alpha1.ClusterBootstrapSpec) error {
	if traitsOf(p.Provider).diskPath != "" || talos.FindsDisks(spec.Talos.Version) {
		return nil
	}
	for _, m := range p.Machines {
		if len(m.Pool.ExtraDisks) > 0 {
			return &Failure{Reason: "InvalidSpec", Message: fmt.Sprintf("extraDisks of machine %s: Talos %s selects disks by path only, and disk paths on %s are not stable; set spec.talos.version to v1.10.0 or later, or remove extraDisks", m.Name, spec.Talos.Version, spec.Provider)}
		}
	}
	return nil
}

// placeholder is what is known of a machine in a configuration that is only checked.
func placeholder(m Machine) (s v1alpha1.MachineRequestStatus) {
	for i := range m.Pool.ExtraDisks {
		s.Disks = append(s.Disks, v1alpha1.MachineDisk{Name: diskName(i), Serial: "unknown"})
	}
	return s
}
