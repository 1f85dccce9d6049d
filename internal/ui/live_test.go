// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"strings"
	"testing"
)

// TestCursorGoesBackToTheBeginningOfWhatIsShown: also if the terminal has broken its lines.
func TestCursorGoesBackToTheBeginningOfWhatIsShown(t *testing.T) {
	wide := strings.Repeat("x", 80)
	for reason, c := range map[string]struct {
		shown string
		width int
		want  string
	}{
		"nothing":                {"", 80, "\r"},
		"a line without an end":  {"… waits", 80, "\r"},
		"lines":                  {"a\nb\n", 80, "\r\x1b[2A"},
		"a line that fills it":   {wide + "\n", 80, "\r\x1b[1A"},
		"it became narrower":     {wide + "\nb\n", 79, "\r\x1b[3A"},
		"much narrower":          {wide + "\nb\n", 20, "\r\x1b[5A"},
		"it became wider":        {wide + "\n", 200, "\r\x1b[1A"},
		"colours have no width":  {"\x1b[32m" + wide + "\x1b[0m\n", 80, "\r\x1b[1A"},
		"an unfinished long one": {wide, 40, "\r\x1b[1A"},
		"no width":               {"ab\n", 0, "\r\x1b[2A"},
	} {
		if got := back(c.shown, c.width); got != c.want {
			t.Errorf("%s: %q, want %q", reason, got, c.want)
		}
	}
}

// TestNothingErasesTheWholeScreen: tmux would keep each frame in its history.
func TestNothingErasesTheWholeScreen(t *testing.T) {
	if got, want := over("a\nb\n"), "\x1b[Ka\n\x1b[Kb\n\x1b[K\x1b[J"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
