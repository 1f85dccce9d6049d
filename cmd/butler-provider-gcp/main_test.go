// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/providerbinary"
	"github.com/butlerdotdev/butler/internal/sim/facade"
	"github.com/butlerdotdev/butler/internal/sim/gcp"
)

func suite() providerbinary.Suite {
	return providerbinary.Suite{
		Platform: gcp.Platform(),
		Objects:  3, // instance, two disks
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
	var file struct {
		Token string `json:"token_uri"` // the API is at the same address
	}
	credentials[v1alpha1.KeyCABundle] = providerbinary.ReadUser(t, api, &file)
	c.Spec.GCP.Endpoint = strings.TrimSuffix(file.Token, "/token")
	credentials[v1alpha1.KeyEndpoint] = []byte(c.Spec.GCP.Endpoint)
}

// count counts all instances and disks.
func count(t testing.TB, api facade.API) (n int) {
	t.Helper()
	for _, collection := range []string{"instances", "disks"} {
		all, err := gcp.List(t.Context(), api.Admin(), collection)
		providerbinary.Must(t, err)
		n += len(all)
	}
	return n
}

// running asks again and again: Compute Engine reports no changes.
func running(t testing.TB, api facade.API) <-chan string {
	t.Helper()
	return providerbinary.Poll(t, func(ctx context.Context) (map[string]string, error) {
		all, err := gcp.List(ctx, api.Admin(), "instances")
		names := map[string]string{}
		for _, i := range all {
			if i.Status == "RUNNING" {
				names[i.SelfLink] = i.Name
			}
		}
		return names, err
	})
}
