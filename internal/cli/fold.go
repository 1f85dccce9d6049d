// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

// foldList returns an introduction and a list of words in lines of help text.
func foldList[T ~string](introduction string, words []T) string {
	const columns = 80
	text, width := introduction, len(introduction)
	for i, w := range words {
		word := string(w)
		if i < len(words)-1 {
			word += ","
		}
		if width+len(word)+1 >= columns {
			text, width = text+"\n"+word, len(word)
			continue
		}
		text, width = text+" "+word, width+1+len(word)
	}
	return text
}
