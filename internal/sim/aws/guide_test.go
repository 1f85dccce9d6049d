// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"os"
	"strings"
	"testing"
)

// The policy of the guide is the one that every rehearsal and every test is limited to.
func TestTheGuideHasThePolicyThatIsEnforced(t *testing.T) {
	page, err := os.ReadFile("../../../docs/getting-started/aws.md")
	if err != nil {
		t.Fatal(err)
	}
	if block := "```json\n" + strings.TrimSpace(string(documented)) + "\n```\n"; !strings.Contains(string(page), block) {
		t.Errorf("docs/getting-started/aws.md does not have policy.json as it is:\n%s", block)
	}
}
