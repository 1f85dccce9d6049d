// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox_test

import (
	"os"
	"strings"
	"testing"
)

// The role of the guide is the one that every rehearsal and every test is limited to.
func TestTheGuideHasTheRoleThatIsEnforced(t *testing.T) {
	page, err := os.ReadFile("../../../docs/getting-started/proxmox.md")
	must(t, err)
	commands, err := os.ReadFile("role.sh")
	must(t, err)
	if block := "```sh\n" + strings.TrimSpace(string(commands)) + "\n```\n"; !strings.Contains(string(page), block) {
		t.Errorf("docs/getting-started/proxmox.md does not have role.sh as it is:\n%s", block)
	}
}
