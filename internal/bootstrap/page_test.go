// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// reasonPattern finds reasons where they are given: of obstacles, failures and
// warnings, and as constants.
var reasonPattern = regexp.MustCompile(`(?:Reason:\s*|(?:Failure|Warning)\{+|\breason\w+\s*=\s*)"([A-Z]\w+)"`)

func TestEveryReasonIsOnThePage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "clusterbootstrap.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, dir := range []string{".", filepath.Join("..", "controller", "clusterbootstrap")} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range reasonPattern.FindAllSubmatch(source, -1) {
				found++
				if reason := string(match[1]); !strings.Contains(string(page), "`"+reason+"`") {
					t.Errorf("%s: the page does not have `%s`", file, reason)
				}
			}
		}
	}
	if found < 25 {
		t.Errorf("only %d reasons were found", found)
	}
}
