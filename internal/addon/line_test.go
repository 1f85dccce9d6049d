// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

func TestProvidersGoWithTheLineOfTheCore(t *testing.T) {
	for core, want := range map[string]string{
		"v1.9.4": "v1.19.4", "v1.9.11": "v1.19.4", "1.10.0": "v1.21.0", "v1.11.3": "v1.22.4",
		"v1.15.0": "v1.22.4", // newer ones take the newest providers
		"v1.8.0":  "v1.19.4", // older ones the oldest
	} {
		if got := infrastructureOf(v1alpha1.ProviderAzure, lineOf(core)).Version; got != want {
			t.Errorf("core %s: %s, want %s", core, got, want)
		}
	}
}

func TestEveryLineHasAllProviders(t *testing.T) {
	for _, l := range Lines() {
		for _, p := range everyProvider(l) {
			if p.Kind != CoreProvider && p.Kind != BootstrapProvider && p.Version == "" {
				t.Errorf("v1.%d has no version of %s", l.Minor, p.Name)
			}
		}
		if len(l.Providers) != len(Lines()[0].Providers) || !strings.HasPrefix(l.Core, lines(l)+".") || len(l.Served) == 0 {
			t.Errorf("v1.%d is not complete: %+v", l.Minor, l)
		}
	}
}

func TestACoreThatTakesNoneOfTheProvidersIsRefused(t *testing.T) {
	for version, refused := range map[string]bool{"v1.9.4": false, "v1.15.9": false, "v1.16.0": true, "": false} {
		c := cluster{}
		c.Addons.CAPI.Version = version
		if err := c.checkCore(); (err != nil) != refused {
			t.Errorf("%q: %v", version, err)
		}
		if c.Addons.CAPI.Enabled = new(false); c.checkCore() != nil {
			t.Errorf("%q: refused without Cluster API", version)
		}
	}
}

func TestHarvesterHasTheProviderOfItsProviderConfig(t *testing.T) {
	for reason, c := range map[string]struct {
		own     v1alpha1.HarvesterClusterAPIProvider
		version string
		want    string
	}{
		"by default":                   {"", "", "kubevirt v0.1.10"},
		"as chosen":                    {v1alpha1.ClusterAPIKubevirt, "", "kubevirt v0.1.10"},
		"the other":                    {v1alpha1.ClusterAPIHarvester, "", "harvester-harvester v0.2.9"},
		"another version":              {v1alpha1.ClusterAPIKubevirt, "v0.10.5", "kubevirt v0.10.5"},
		"a version that only one has":  {"", "v0.2.8", "harvester-harvester v0.2.8"},
		"a version of the chosen one":  {v1alpha1.ClusterAPIHarvester, "v0.10.1", "harvester-harvester v0.10.1"},
		"a version without its prefix": {"", "0.3.1", "harvester-harvester v0.3.1"},
	} {
		k := cluster{}
		k.Provider = v1alpha1.ProviderHarvester
		k.facts.Platform.Harvester = &v1alpha1.HarvesterSpec{ClusterAPIProvider: c.own}
		k.Addons.CAPI.InfrastructureProviders = []v1alpha1.CAPIInfraProviderSpec{{Name: v1alpha1.ProviderHarvester, Version: c.version}}
		p := infrastructure(k, Lines()[0])[0]
		if got := p.Name + " " + p.Version; got != c.want {
			t.Errorf("%s: %s, want %s", reason, got, c.want)
		}
	}
}

func TestProvidersOfControlPlanesLeaveInfrastructureAlone(t *testing.T) {
	for _, host := range []string{Steward, Kamaji} {
		c := cluster{}
		c.Addons.ControlPlaneProvider.Type = host
		p := hostedProviders(c, Lines()[0])
		if len(p) != 1 || len(p[0].Gates) != 1 || p[0].Gates[0] != "SkipInfraClusterPatch" {
			t.Errorf("%s: %+v", host, p)
		}
	}
}
