// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"strings"
	"testing"
)

func TestLabelsHaveAtMost63LettersOfSomeKinds(t *testing.T) {
	for reason, c := range map[string]struct {
		text       string
		key, value bool
	}{
		"letters and signs":   {"butler_cluster-1", true, true},
		"letters of any kind": {"größe", true, true},
		"begins with a digit": {"1st", false, true},
		"nothing":             {"", false, true},
		"capital letters":     {"Butler", false, false},
		"a slash":             {"a/b", false, false},
		"as long as may be":   {strings.Repeat("ö", 63), true, true},
		"longer":              {strings.Repeat("a", 64), false, false},
	} {
		if got := isLabelKey(c.text); got != c.key {
			t.Errorf("%s as a key: %v", reason, got)
		}
		if got := isLabelValue(c.text); got != c.value {
			t.Errorf("%s as a value: %v", reason, got)
		}
	}
}
