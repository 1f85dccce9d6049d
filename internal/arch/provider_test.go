// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEveryProviderHasAllItsParts(t *testing.T) {
	gaps, err := ProviderGaps("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, gap := range gaps {
		t.Error(gap)
	}
}

func TestAProviderThatLacksPartsIsNamed(t *testing.T) {
	root := t.TempDir()
	for _, file := range []string{
		"provider/next/next.go", "provider/inmemory/x.go", "cmd/butleradm/app/app.go", "internal/cli/matrix/platform_test.go",
		"docs/concepts/providers.md", "docs/contributing/provider-contract.md", "configs/examples/next-ha.yaml",
	} {
		path := filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	source := `const reason = "NextUnavailable"`
	if err := os.WriteFile(filepath.Join(root, "provider/next/next.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	gaps, err := ProviderGaps(root)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(gaps, "\n")
	if len(gaps) != 12 || !strings.Contains(all, `reason "NextUnavailable"`) || !strings.Contains(all, "provider next has no cmd/butler-provider-next/main.go") || !strings.Contains(all, "cmd/butleradm/app/app.go does not have next.Provider()") {
		t.Errorf("%d gaps:\n%s", len(gaps), all)
	}
	if strings.Contains(all, "configs/examples") || strings.Contains(all, "inmemory") {
		t.Errorf("named without a cause:\n%s", all)
	}
}
