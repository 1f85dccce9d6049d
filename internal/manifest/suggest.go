// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import "strings"

// Nearest is the candidate that a word was probably meant to be, or nothing. One
// that holds the whole word counts as one letter away.
func Nearest(word string, candidates []string) string {
	best, least := "", len(word)/3+2
	lower := strings.ToLower(word)
	for _, c := range candidates {
		d := distance(lower, strings.ToLower(c))
		if len(word) > 2 && strings.Contains(strings.ToLower(c), lower) {
			d = min(d, 1)
		}
		if d < least {
			best, least = c, d
		}
	}
	return best
}

// distance counts the letters to insert, remove, replace or swap with their
// neighbour to make one word of another.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
