// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheGuideExplainsEveryReason that the driver's own files name.
func TestTheGuideExplainsEveryReason(t *testing.T) {
	guide, err := os.ReadFile("../../docs/getting-started/nutanix.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(guide), "## Troubleshooting")
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	named, found := regexp.MustCompile(`provider\.Reason([A-Z]\w+)|\breason[A-Z]\w* *= "(\w+)"|refuse\("(\w+)"|provider\.(NameTaken|PartDeleting)\(`), 0
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range named.FindAllStringSubmatch(string(content), -1) {
			reason := strings.Join(m[1:], "")
			if found++; reason != "Of" && !strings.Contains(table, "`"+reason+"`") {
				t.Errorf("%s: the guide does not have %s", file, reason)
			}
		}
	}
	if found < 20 {
		t.Errorf("%d reasons were found", found)
	}
}
