// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/providerbinary"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/sim/proxmox"
)

func suite() providerbinary.Suite {
	return providerbinary.Suite{
		Package:  "github.com/butlerdotdev/butler/cmd/butler-provider-proxmox",
		Platform: proxmox.Platform(),
		Page:     "getting-started/proxmox.md",
		Pages:    []string{"getting-started/proxmox.md"},
		Objects:  4, // VM, two disks, ISO image
		Count:    count,
		Running:  running,
		Reach:    reach,
	}
}

func TestVersionAndWrongArguments(t *testing.T)           { suite().VersionAndWrongArguments(t) }
func TestARequestRunsAndIsGoneAgain(t *testing.T)         { suite().RequestRunsAndIsGoneAgain(t) }
func TestTheManifestsOfTheGuidesAreAccepted(t *testing.T) { suite().ManifestsAreAccepted(t) }

func BenchmarkPendingToRunning(b *testing.B)   { suite().PendingToRunning(b) }
func BenchmarkRequestsPerMachine(b *testing.B) { suite().RequestsPerMachine(b) }
func BenchmarkAtRest(b *testing.B)             { suite().AtRest(b) }
func BenchmarkLag(b *testing.B)                { suite().Lag(b) }
func BenchmarkRealistic(b *testing.B)          { suite().Realistic(b) }

// reach points the ProviderConfig at the user's own address, where calls are counted.
func reach(t testing.TB, api facade.API, c *v1alpha1.ProviderConfig, credentials map[string][]byte) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(api.Admin()), "user.json"))
	must(t, err)
	var file struct{ Endpoint string }
	must(t, json.Unmarshal(raw, &file))
	c.Spec.Proxmox.Endpoint, credentials[v1alpha1.KeyEndpoint] = file.Endpoint, []byte(file.Endpoint)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func administrator(t testing.TB, api facade.API) *proxmox.Client {
	t.Helper()
	c, err := proxmox.Open(api.Admin())
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

// count counts all VMs and volumes beside the templates.
func count(t testing.TB, api facade.API) int {
	t.Helper()
	c := administrator(t, api)
	vms, err := c.VMs(t.Context())
	must(t, err)
	volumes, err := c.Volumes(t.Context())
	must(t, err)
	return len(vms) + len(volumes)
}

// running asks again and again: Proxmox VE reports no changes.
func running(t testing.TB, api facade.API) <-chan string {
	t.Helper()
	c := administrator(t, api)
	names := make(chan string)
	go func() {
		defer close(names)
		known := map[int]bool{}
		for tick := time.Tick(50 * time.Millisecond); t.Context().Err() == nil; <-tick {
			all, err := c.VMs(t.Context())
			if err != nil && t.Context().Err() == nil {
				t.Error(err)
			}
			for _, vm := range all {
				if vm.Status == "running" && !known[vm.VMID] {
					known[vm.VMID] = true
					names <- vm.Name
				}
			}
		}
	}()
	return names
}
