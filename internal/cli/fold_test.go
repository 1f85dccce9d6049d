// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"
)

func TestFoldedListsFitTheTerminal(t *testing.T) {
	word := strings.Repeat("x", 25)
	got := foldList("KIND is", []string{word, word, word, "y"})
	want := "KIND is " + word + ", " + word + ",\n" + word + ", y"
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
