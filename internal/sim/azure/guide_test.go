// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"os"
	"strings"
	"testing"
)

// The role of the guide is the one that every rehearsal and every test is limited to.
func TestTheGuideHasTheRoleThatIsEnforced(t *testing.T) {
	page, err := os.ReadFile("../../../docs/getting-started/azure.md")
	if err != nil {
		t.Fatal(err)
	}
	if block := "```json\n" + strings.TrimSpace(string(documented)) + "\n```\n"; !strings.Contains(string(page), block) {
		t.Errorf("docs/getting-started/azure.md does not have role.json as it is:\n%s", block)
	}
}
