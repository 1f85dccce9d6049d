// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestALongLogKeepsItsEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := shorten(path, 16); err != nil {
		t.Errorf("no log: %v", err)
	}
	for _, c := range []struct{ before, after string }{
		{strings.Repeat("a", 16), strings.Repeat("a", 16)},
		{strings.Repeat("a", 20) + "bc", "bc"},
	} {
		if err := os.WriteFile(path, []byte(c.before), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := shorten(path, 16); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); string(got) != c.after || err != nil {
			t.Errorf("%d bytes became %q: %v", len(c.before), got, err)
		}
	}
}
