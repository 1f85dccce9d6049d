// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/provider"
)

func TestCredentialsThatCannotBeUsedAreUsageErrors(t *testing.T) {
	config := &v1alpha1.ProviderConfig{Spec: v1alpha1.ProviderConfigSpec{
		Provider: v1alpha1.ProviderNutanix, CredentialsRef: &v1alpha1.SecretReference{Name: "x"},
	}}
	if _, err := secretOf(provider.Login{}, config, "f", []byte("- canary")); failure.KindOf(err) != failure.Usage || strings.Contains(err.Error(), "canary") {
		t.Errorf("a file: %v", err)
	}
	if s, err := secretOf(provider.Login{}, config, "f", []byte("username: a\n")); err != nil || s.Name != "x" || string(s.Data["username"]) != "a" {
		t.Errorf("%v, %v", s, err)
	}
	if _, _, err := operation.AmbientCredentials(provider.Login{}, config); failure.KindOf(err) != failure.Usage {
		t.Errorf("ambient ones: %v", err)
	}
}

func TestHelpFitsIntoEightyColumns(t *testing.T) {
	var visit func(*cobra.Command)
	seen := 0
	visit = func(c *cobra.Command) {
		seen++
		for line := range strings.SplitSeq(c.Long+"\n"+c.UsageString(), "\n") {
			if w := ansi.StringWidth(line); w > ui.Columns {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), w, line)
			}
		}
		for _, child := range c.Commands() {
			visit(child)
		}
	}
	visit(App{Providers: []provider.Provider{{Type: v1alpha1.ProviderHarvester}}}.Command())
	if seen < 10 {
		t.Errorf("%d commands", seen)
	}
}

// TestEveryCommandHasATranscript: testdata shows how each command refuses a mistake.
func TestEveryCommandHasATranscript(t *testing.T) {
	refused := refusals(t)
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		if c.HasParent() && refused[c.CommandPath()] == 0 {
			t.Errorf("no transcript has %s refuse anything", c.CommandPath())
		}
		for _, child := range c.Commands() {
			visit(child)
		}
	}
	root := wholeApp().Command()
	visit(root)
	if len(refused) < 40 {
		t.Errorf("%d commands", len(refused))
	}
}

// refusals counts what the transcripts have refused, by command.
func refusals(t *testing.T) map[string]int {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	out, root := map[string]int{}, wholeApp().Command()
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(string(data), "\n$ butleradm ") {
			line, _, _ := strings.Cut(part, "\n")
			if c, _, err := root.Find(strings.Fields(line)); err == nil && strings.Contains(part, "\n[exit ") {
				out[c.CommandPath()]++
			}
		}
	}
	return out
}
