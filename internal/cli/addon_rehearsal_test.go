// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rehearsals

package cli_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

func TestGatewayRehearsal(t *testing.T) {
	a := newAdm(t)
	a.ok("bootstrap", "harvester", "-c", exampleGateway, "--rehearse")
	expectAddons(t, a, "butler-mgmt", addonsGateway...)
	if url := a.status("butler-mgmt").ConsoleURL; url != "https://butler.platform.example.com" {
		t.Errorf("the console is at %q", url)
	}
	if out := a.ok("status", "butler-mgmt").out; !strings.Contains(out, "console:   https://butler.platform.example.com\n") {
		t.Errorf("status says\n%s", out)
	}
	a.ok("destroy", "butler-mgmt", "--yes")
}

// chartFaults goes wrong with one addon each way, until half a minute has passed.
const chartFaults = `faults:
- {kind: chartUnavailable, addon: longhorn, for: 30s}
- {kind: addonNotReady, addon: cert-manager, for: 30s}
- {kind: webhookRefuses, addon: metallb, for: 30s}
- {kind: hookFails, addon: flux, for: 30s}
`

func TestChartFaultsShowTheirCauseAndHeal(t *testing.T) {
	a := newAdm(t)
	manifest := file(t, "c.yaml", edited(t, example, `    vip: "10.40.0.100"`, `    vip: "10.40.0.100"
    loadBalancerPool: {start: "10.40.0.210", end: "10.40.0.250"}`))
	faults := file(t, "faults.yaml", chartFaults)
	cmd, term := a.onTerminal([]string{"NO_COLOR=1"}, "bootstrap", "harvester", "-c", manifest, "--rehearse", "--faults", faults)
	term.until(t, "InstallingAddons")
	api := a.planeClient(filepath.Join(a.home, "rehearsals", "dev-cluster", "plane"))
	causes := map[string]string{
		"longhorn":     "chart longhorn 1.7.2 cannot be fetched from https://charts.longhorn.io",
		"cert-manager": "Deployment cert-manager/cert-manager",
		"metallb":      "the fault plan has the webhooks of metallb refuse everything",
		"flux":         "the fault plan has the hooks of flux fail",
	}
	for name, cause := range causes {
		waitFor(t, func() bool { return obstacleOf(t, api, name, cause) })
	}
	for _, shown := range []string{"✗ longhorn", "… cert-manager", "✗ metallb", "✗ flux"} {
		term.until(t, shown)
	}
	if code, shown := term.end(cmd); code != 0 {
		t.Fatalf("exit %d\n%s", code, shown)
	}
	expectAddons(t, a, "dev-cluster", slices.Sorted(slices.Values(append([]string{"metallb"}, addonsSingle...)))...)
	a.ok("destroy", "dev-cluster", "--yes")
}

// obstacleOf reports whether the status names a cause why an addon is not ready.
func obstacleOf(t *testing.T, api client.Client, name, cause string) bool {
	t.Helper()
	var clusters v1alpha1.ClusterBootstrapList
	if err := api.List(t.Context(), &clusters); err != nil || len(clusters.Items) != 1 {
		t.Fatalf("%d clusters, %v", len(clusters.Items), err)
	}
	return slices.ContainsFunc(clusters.Items[0].Status.Addons, func(a v1alpha1.BootstrapAddonStatus) bool {
		return a.Name == name && a.Phase != v1alpha1.AddonReady && strings.Contains(a.Message, cause)
	})
}
