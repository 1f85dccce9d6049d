// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTextsAvoidWordsThatReadersStopAt(t *testing.T) {
	found, err := Wording("../..")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	for _, use := range found {
		t.Error(use)
	}
}

func TestWordingFindsPagesCommentsMessagesAndNames(t *testing.T) {
	root := repository(t, map[string]string{
		"docs/page.md":              "It was.\n`told: x`\n```\nnobody\n```\nIt goes on.",
		"internal/cli/a.go":         "package cli\n\n// a tells all.\nconst a = \"told\" + \"somebody came\"\n",
		"internal/cli/a_test.go":    "package cli\n\n// nobody\nconst a, b = \"anew\", \"made anew\"\n\nfunc TestStandInTellsAll() {}\n\nfunc TestANewOne() {}\n\ntype outsideWorld struct{}\n",
		"charts/x/README.md":        "a stranger\n",
		".git/COMMIT_EDITMSG.md":    "nobody\n",
		"api/v1alpha1/made_type.go": "package v1alpha1\n\n// Phase is made anew.\n",
	})
	found, err := Wording(root)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	want := []string{
		`api/v1alpha1/made_type.go:3: "anew"; instead: again, recreate`,
		`charts/x/README.md:1: "stranger"; instead: a conflicting VM, another owner`,
		`docs/page.md:6: "goes on"; instead: continues`,
		`internal/cli/a.go:3: "tells"; instead: report, return, record, log`,
		`internal/cli/a.go:4: "somebody"; instead: the caller, another process, no plane, an operator`,
		`internal/cli/a_test.go:10: "World"; instead: simulator, fixture`,
		`internal/cli/a_test.go:3: "nobody"; instead: the caller, another process, no plane, an operator`,
		`internal/cli/a_test.go:4: "anew"; instead: again, recreate`,
		`internal/cli/a_test.go:6: "Tells"; instead: report, return, record, log`,
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
}

// repository writes files, by path, into a folder of their own.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}
