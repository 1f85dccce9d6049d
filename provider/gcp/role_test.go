// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// documented are the permissions of the custom role in the guide.
func documented(t *testing.T) []string {
	t.Helper()
	guide, err := os.ReadFile("../../docs/getting-started/gcp.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(guide), "```yaml\ntitle: Butler")
	text, _, found := strings.Cut(after, "```")
	var role struct{ IncludedPermissions []string }
	if err := yaml.Unmarshal([]byte("title: Butler"+text), &role); err != nil || !found {
		t.Fatalf("the guide has no role: %v", err)
	}
	enforced, err := os.ReadFile("../../internal/sim/gcp/role.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(enforced), "title: Butler"+text); diff != "" {
		t.Errorf("the simulated project enforces another role: %s", diff)
	}
	return role.IncludedPermissions
}

// TestTheDocumentedRoleHasWhatIsUsed and nothing else.
func TestTheDocumentedRoleHasWhatIsUsed(t *testing.T) {
	if diff := cmp.Diff(slices.Sorted(slices.Values(permissions())), documented(t)); diff != "" {
		t.Error(diff)
	}
}
