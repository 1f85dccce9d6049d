// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/providerbinary"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/sim/nutanix"
)

func suite() providerbinary.Suite {
	return providerbinary.Suite{
		Package:  "github.com/butlerdotdev/butler/cmd/butler-provider-nutanix",
		Platform: nutanix.Platform(),
		Page:     "getting-started/nutanix.md",
		Pages:    []string{"getting-started/nutanix.md"},
		Objects:  2, // a VM with its disks, a category
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

// reach points the ProviderConfig at the simulator, whose authority the driver trusts.
func reach(t testing.TB, api facade.API, c *v1alpha1.ProviderConfig, credentials map[string][]byte) {
	t.Helper()
	// The user's own address, where calls are counted.
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(api.Admin()), "user.json"))
	must(t, err)
	var file struct {
		Endpoint string `json:"endpoint"`
		CA       string `json:"caBundle"`
	}
	must(t, json.Unmarshal(raw, &file))
	ca, err := os.ReadFile(file.CA)
	must(t, err)
	at, err := url.Parse(file.Endpoint)
	must(t, err)
	port, err := strconv.Atoi(at.Port())
	must(t, err)
	c.Spec.Nutanix.Endpoint, c.Spec.Nutanix.Port = file.Endpoint, int32(port)
	credentials[v1alpha1.KeyCABundle] = ca
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// count counts all VMs, and the categories that the platform does not define.
func count(t testing.TB, api facade.API) (n int) {
	t.Helper()
	for _, collection := range []string{"vms", "categories"} {
		all, err := nutanix.List(t.Context(), api.Admin(), collection)
		must(t, err)
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
	names := make(chan string)
	go func() {
		defer close(names)
		known := map[string]bool{}
		for tick := time.Tick(50 * time.Millisecond); t.Context().Err() == nil; <-tick {
			all, err := nutanix.List(t.Context(), api.Admin(), "vms")
			if err != nil && t.Context().Err() == nil {
				t.Error(err)
			}
			for _, vm := range all {
				if vm.PowerState == "ON" && !known[vm.UUID] {
					known[vm.UUID] = true
					names <- vm.Name
				}
			}
		}
	}()
	return names
}
