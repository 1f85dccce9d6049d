// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

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
		Count:    count,
		Running:  running,
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

// count counts all objects on the platform that machines consist of.
func count(t testing.TB, _ facade.API) int {
	t.Helper()
	t.Fatal("the simulated platform has no administrator yet")
	return 0
}

// running returns the names of machines as they begin to run.
func running(t testing.TB, _ facade.API) <-chan string {
	t.Helper()
	t.Fatal("the simulated platform has no administrator yet")
	return nil
}
