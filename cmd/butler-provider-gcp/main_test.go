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
	"github.com/butlerdotdev/butler/internal/sim/gcp"
)

func suite() providerbinary.Suite {
	return providerbinary.Suite{
		Package:  "github.com/butlerdotdev/butler/cmd/butler-provider-gcp",
		Platform: gcp.Platform(),
		Page:     "getting-started/gcp.md",
		Pages:    []string{"getting-started/gcp.md"},
		Objects:  3, // instance, two disks
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
	user := filepath.Join(filepath.Dir(api.Admin()), "user.json")
	_, endpoint, err := gcp.Client(user)
	must(t, err)
	raw, err := os.ReadFile(user)
	must(t, err)
	var file struct {
		CA string `json:"ca_bundle"`
	}
	must(t, json.Unmarshal(raw, &file))
	ca, err := os.ReadFile(file.CA)
	must(t, err)
	c.Spec.GCP.Endpoint = endpoint
	credentials[v1alpha1.KeyEndpoint], credentials[v1alpha1.KeyCABundle] = []byte(endpoint), ca
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// count counts all instances and disks.
func count(t testing.TB, api facade.API) (n int) {
	t.Helper()
	for _, collection := range []string{"instances", "disks"} {
		all, err := gcp.List(t.Context(), api.Admin(), collection)
		must(t, err)
		n += len(all)
	}
	return n
}

// running asks again and again: Compute Engine reports no changes.
func running(t testing.TB, api facade.API) <-chan string {
	t.Helper()
	names := make(chan string)
	go func() {
		defer close(names)
		known := map[string]bool{}
		for tick := time.Tick(50 * time.Millisecond); t.Context().Err() == nil; <-tick {
			all, err := gcp.List(t.Context(), api.Admin(), "instances")
			if err != nil && t.Context().Err() == nil {
				t.Error(err)
			}
			for _, i := range all {
				if i.Status == "RUNNING" && !known[i.SelfLink] {
					known[i.SelfLink] = true
					names <- i.Name
				}
			}
		}
	}()
	return names
}
