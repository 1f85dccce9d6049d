// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package facade

import "github.com/butlerdotdev/butler/api/v1alpha1"

// StorageClasses returns the storage classes that the extra disks of a cluster name, once for
// each disk.
func StorageClasses(c v1alpha1.ClusterSpec) (out []string) {
	pools := []v1alpha1.NodePool{c.ControlPlane}
	if c.Workers != nil {
		pools = append(pools, *c.Workers)
	}
	for _, p := range pools {
		for _, d := range p.ExtraDisks {
			if d.StorageClass != "" {
				out = append(out, d.StorageClass)
			}
		}
	}
	return out
}
