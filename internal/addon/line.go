// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// The names of providers whose versions go with a line of the core. Those of infrastructure
// providers are those of their platforms, except that Harvester has two.
const (
	kubevirtProvider  = "kubevirt"
	inClusterProvider = "in-cluster"
)

// Line is a line of releases of Cluster API's core, with the providers that go with it: those
// that were built with it, and support a control plane that is not on machines of the platform.
type Line struct {
	// Minor version of the core, such as 9 for v1.9.
	Minor int
	// Core is the release whose definitions the builders are tested with.
	Core string
	// Versions of cluster.x-k8s.io that it serves.
	Served []string
	// Providers by their names; see [Lines].
	Providers map[string]string
}

// Lines are the lines of the core, oldest first. Providers are paired here and nowhere else. A
// test holds the objects of tenant clusters against the definitions of each.
func Lines() []Line {
	return []Line{
		{
			Minor: 9, Core: "v1.9.4", Served: []string{"v1beta1"},
			Providers: map[string]string{
				Steward: "v0.3.0", Kamaji: "v0.14.2", kubevirtProvider: "v0.1.10", string(v1alpha1.ProviderHarvester): "v0.2.9",
				string(v1alpha1.ProviderNutanix): "v1.5.3", string(v1alpha1.ProviderProxmox): "v0.7.2", inClusterProvider: "v1.0.1",
				string(v1alpha1.ProviderGCP): "v1.9.0", string(v1alpha1.ProviderAWS): "v2.8.4", string(v1alpha1.ProviderAzure): "v1.19.4",
			},
		},
		{
			Minor: 10, Core: "v1.10.4", Served: []string{"v1beta1"},
			Providers: map[string]string{
				Steward: "v0.3.0", Kamaji: "v0.15.4", kubevirtProvider: "v0.1.10", string(v1alpha1.ProviderHarvester): "v0.2.9",
				string(v1alpha1.ProviderNutanix): "v1.7.0", string(v1alpha1.ProviderProxmox): "v0.7.2", inClusterProvider: "v1.0.3",
				string(v1alpha1.ProviderGCP): "v1.10.1", string(v1alpha1.ProviderAWS): "v2.9.3", string(v1alpha1.ProviderAzure): "v1.21.0",
			},
		},
		{
			// From here on the core's own contract is v1beta2, and it takes providers of v1beta1.
			Minor: 11, Core: "v1.11.3", Served: []string{"v1beta1", "v1beta2"},
			Providers: map[string]string{
				Steward: "v0.3.0", Kamaji: "v0.15.4", kubevirtProvider: "v0.11.2", string(v1alpha1.ProviderHarvester): "v0.2.9",
				string(v1alpha1.ProviderNutanix): "v1.9.2", string(v1alpha1.ProviderProxmox): "v0.7.2", inClusterProvider: "v1.0.3",
				string(v1alpha1.ProviderGCP): "v1.11.2", string(v1alpha1.ProviderAWS): "v2.11.1", string(v1alpha1.ProviderAzure): "v1.22.4",
			},
		},
	}
}

// lastMinor is the last line of the core that takes providers of contract v1beta1.
const lastMinor = 15

var coreVersion = regexp.MustCompile(`^v?1\.([0-9]+)\.`)

// lineOf returns the line of a version of the core. Newer ones than the table has get the newest
// line as long as they take its providers; others get the oldest.
func lineOf(core string) Line {
	lines := Lines()
	found := lines[0]
	for _, l := range lines {
		if l.Minor <= coreMinor(core) {
			found = l
		}
	}
	return found
}

// coreMinor is 0 for what is no version of the core.
func coreMinor(core string) int {
	parts := coreVersion.FindStringSubmatch(core)
	if parts == nil {
		return 0
	}
	minor, err := strconv.Atoi(parts[1])
	if err != nil {
		return 0
	}
	return minor
}

// checkCore refuses a core that no provider of the table fits.
func (c cluster) checkCore() error {
	version := c.Addons.CAPI.Version
	if !on(c.Addons.CAPI.Enabled) || coreMinor(version) <= lastMinor {
		return nil
	}
	return fmt.Errorf("spec.addons.capi.version %s: its providers would need contract v1beta2 of Cluster API; set at most v1.%d", version, lastMinor)
}
