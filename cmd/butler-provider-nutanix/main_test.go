// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net/url"
	"strconv"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/providerbinary"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/sim/nutanix"
)

func suite() providerbinary.Suite {
	return providerbinary.Suite{
		Platform: nutanix.Platform(),
		Objects:  2, // a VM with its disks, a category
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

// reach points the ProviderConfig at the simulator, whose authority the driver trusts.
func reach(t testing.TB, api facade.API, c *v1alpha1.ProviderConfig, credentials map[string][]byte) {
	t.Helper()
	var file struct{ Endpoint string }
	ca := providerbinary.ReadUser(t, api, &file)
	at, err := url.Parse(file.Endpoint)
	providerbinary.Must(t, err)
	port, err := strconv.Atoi(at.Port())
	providerbinary.Must(t, err)
	c.Spec.Nutanix.Endpoint, c.Spec.Nutanix.Port = file.Endpoint, int32(port)
	credentials[v1alpha1.KeyCABundle] = ca
}

// count counts all VMs, and the categories that the platform does not define.
func count(t testing.TB, api facade.API) (n int) {
	t.Helper()
	for _, collection := range []string{"vms", "categories"} {
		all, err := nutanix.List(t.Context(), api.Admin(), collection)
		providerbinary.Must(t, err)
		for _, one := range all {
			if !one.SystemDefined {
				n++
			}
		}
	}
	return n
}

// running asks again and again: Prism reports no changes.
func running(t testing.TB, api facade.API) <-chan string {
	t.Helper()
	return providerbinary.Poll(t, func(ctx context.Context) (map[string]string, error) {
		all, err := nutanix.List(ctx, api.Admin(), "vms")
		names := map[string]string{}
		for _, vm := range all {
			if vm.PowerState == "ON" {
				names[vm.UUID] = vm.Name
			}
		}
		return names, err
	})
}
