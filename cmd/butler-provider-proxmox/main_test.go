// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"strconv"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/providerbinary"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/sim/proxmox"
)

func suite() providerbinary.Suite {
	return providerbinary.Suite{
		Platform: proxmox.Platform(),
		Objects:  4, // VM, two disks, ISO image
		Count:    count,
		Running:  running,
		Reach:    reach,
	}
}

func TestVersionAndWrongArguments(t *testing.T)   { suite().VersionAndWrongArguments(t) }
func TestARequestRunsAndIsGoneAgain(t *testing.T) { suite().RequestRunsAndIsGoneAgain(t) }

func BenchmarkPendingToRunning(b *testing.B) { suite().PendingToRunning(b) }
func BenchmarkBaseline(b *testing.B)         { suite().Baseline(b) }
func BenchmarkDeletionCalls(b *testing.B)    { suite().DeletionCalls(b) }
func BenchmarkAtRest(b *testing.B)           { suite().AtRest(b) }
func BenchmarkLag(b *testing.B)              { suite().Lag(b) }
func BenchmarkRealistic(b *testing.B)        { suite().Realistic(b) }

// reach points the ProviderConfig at the user's own address, where calls are counted.
func reach(t testing.TB, api facade.API, c *v1alpha1.ProviderConfig, credentials map[string][]byte) {
	t.Helper()
	var file struct{ Endpoint string }
	providerbinary.ReadUser(t, api, &file)
	c.Spec.Proxmox.Endpoint, credentials[v1alpha1.KeyEndpoint] = file.Endpoint, []byte(file.Endpoint)
}

func administrator(t testing.TB, api facade.API) *proxmox.Client {
	t.Helper()
	c, err := proxmox.Open(api.Admin())
	providerbinary.Must(t, err)
	t.Cleanup(c.Close)
	return c
}

// count counts all VMs and volumes beside the templates.
func count(t testing.TB, api facade.API) int {
	t.Helper()
	c := administrator(t, api)
	vms, err := c.VMs(t.Context())
	providerbinary.Must(t, err)
	volumes, err := c.Volumes(t.Context())
	providerbinary.Must(t, err)
	return len(vms) + len(volumes)
}

// running asks again and again: Proxmox VE reports no changes.
func running(t testing.TB, api facade.API) <-chan string {
	t.Helper()
	c := administrator(t, api)
	return providerbinary.Poll(t, func(ctx context.Context) (map[string]string, error) {
		all, err := c.VMs(ctx)
		names := map[string]string{}
		for _, vm := range all {
			if vm.Status == "running" {
				names[strconv.Itoa(vm.VMID)] = vm.Name
			}
		}
		return names, err
	})
}
