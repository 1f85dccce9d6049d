// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// drivers are the providers with a driver and a simulated platform. The rules of all of
// them are the same.
var drivers = []string{"harvester", "nutanix", "proxmox", "aws", "gcp", "azure"}

// driverRules returns the rules of a driver and of its simulated platform. A driver knows
// the contract and its own platform, never another driver; its tests know its simulated
// platform. That is the far side of the wire: it knows no driver and no controller.
func driverRules(name string) []Rule {
	return []Rule{
		{
			Packages: "provider/" + name, May: []string{"api/v1alpha1", "provider", "provider/check", "provider/cloud", "provider/errtext", "provider/nocloud", "provider/tag"},
			InTests: []string{"provider/providertest", "internal/providerbinary", "internal/sim/" + name + "/...", "internal/sim/simtest", "internal/sim/fault"},
		},
		{
			Packages: "internal/sim/" + name + "/...",
			May: []string{
				"api/v1alpha1", "internal/sim/audit", "internal/sim/cloud", "internal/sim/cloudinit", "internal/sim/conflict", "internal/sim/datacenter", "internal/sim/facade",
				"internal/sim/fault", "internal/sim/front", "internal/sim/network", "internal/sim/table",
				"internal/plane", "internal/pki", "provider/tag",
			},
			InTests: []string{"internal/sim/cloud/cloudtest"},
		},
	}
}

// allRules returns the rules of every package of the module.
func allRules() []Rule {
	out := slices.Clone(rules)
	for _, name := range drivers {
		out = append(out, driverRules(name)...)
	}
	return out
}

// noDrivers are the packages below provider that drive no platform of users.
func noDrivers() []string {
	return []string{"check", "cloud", "errtext", "inmemory", "nocloud", "providertest", "serve", "tag"}
}

// ProviderGaps names for each driver below root the parts that it lacks.
// docs/contributing/add-a-provider.md lists them.
func ProviderGaps(root string) (gaps []string, err error) {
	entries, err := os.ReadDir(filepath.Join(root, "provider"))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.IsDir() || slices.Contains(noDrivers(), e.Name()) {
			continue
		}
		missing, err := gapsOf(root, e.Name())
		if err != nil {
			return nil, err
		}
		vendors, err := vendorReasons(root, e.Name())
		if err != nil {
			return nil, err
		}
		gaps = append(gaps, append(missing, vendors...)...)
	}
	return gaps, nil
}

// vendorReasons names the reasons of a driver that begin with its own name: users of
// several providers look for one word (see the constants of package provider).
func vendorReasons(root, name string) (found []string, err error) {
	files, err := filepath.Glob(filepath.Join(root, "provider", name, "*.go"))
	if err != nil {
		return nil, err
	}
	reason := regexp.MustCompile(`"(?i:` + regexp.QuoteMeta(name) + `)[A-Z][a-z]\w*"`)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, word := range reason.FindAllString(string(content), -1) {
			found = append(found, fmt.Sprintf("provider %s has the reason %s, with its own name in it", name, word))
		}
	}
	return found, nil
}

func gapsOf(root, name string) (gaps []string, err error) {
	for _, pattern := range []string{
		"provider/%s/README.md", "provider/%s/conformance_test.go", "cmd/butler-provider-%s/main.go", "charts/butler-provider-%s/Chart.yaml",
		"internal/sim/%s/platform.go", "docs/contributing/sim-%s.md", "docs/getting-started/%s.md", "configs/examples/%s-*.yaml",
	} {
		pattern = fmt.Sprintf(pattern, name)
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			gaps = append(gaps, fmt.Sprintf("provider %s has no %s", name, pattern))
		}
	}
	for file, text := range map[string]string{
		"cmd/butleradm/app/app.go":               name + ".Provider()",
		"internal/cli/matrix/platform_test.go":   fmt.Sprintf("{%q, ", name),
		"docs/concepts/providers.md":             "`" + name + "`",
		"docs/contributing/provider-contract.md": "| " + name + " |",
	} {
		content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			return nil, err
		}
		if !strings.Contains(string(content), text) {
			gaps = append(gaps, fmt.Sprintf("%s does not have %s", file, text))
		}
	}
	slices.Sort(gaps)
	return gaps, nil
}
