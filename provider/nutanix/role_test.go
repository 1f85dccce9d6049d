// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// documented are the permissions of the role in the guide.
func documented(t *testing.T) (names []string) {
	t.Helper()
	guide, err := os.ReadFile("../../docs/getting-started/nutanix.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(guide), "```yaml\n- hosts: localhost")
	text, _, found := strings.Cut(after, "```")
	var plays []struct {
		Tasks []struct {
			Role struct {
				Permissions []struct{ Name string }
			} `json:"nutanix.ncp.ntnx_roles"`
		}
	}
	if err := yaml.Unmarshal([]byte("- hosts: localhost"+text), &plays); err != nil || !found || len(plays) != 1 || len(plays[0].Tasks) != 1 {
		t.Fatalf("the guide has no role: %v", err)
	}
	for _, p := range plays[0].Tasks[0].Role.Permissions {
		names = append(names, p.Name)
	}
	return names
}

// TestTheDocumentedRoleHasWhatIsUsed and nothing else, and the simulated Prism Central
// enforces it.
func TestTheDocumentedRoleHasWhatIsUsed(t *testing.T) {
	if diff := cmp.Diff(permissions(), documented(t)); diff != "" {
		t.Error(diff)
	}
	content, err := os.ReadFile("../../internal/sim/nutanix/role.json")
	if err != nil {
		t.Fatal(err)
	}
	var enforced struct{ Permissions []string }
	if err := json.Unmarshal(content, &enforced); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(permissions(), enforced.Permissions); diff != "" {
		t.Errorf("the simulated Prism Central enforces another role: %s", diff)
	}
}
