// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tag

import "encoding/json"

// Text returns the tags of an object as one text, for objects of a platform that have a
// description and no tags.
func (s Style) Text(set Set) string {
	content, err := json.Marshal(s.Write(set))
	if err != nil {
		return "" // a map of strings can always be written
	}
	return string(content)
}

// ReadText is the inverse of Text. The text may have further fields. Any other text says
// nothing.
func (s Style) ReadText(text string) Set {
	var fields map[string]any
	if json.Unmarshal([]byte(text), &fields) != nil {
		return Set{}
	}
	tags := map[string]string{}
	for name, field := range fields {
		if value, isText := field.(string); isText {
			tags[name] = value
		}
	}
	return s.Read(tags)
}
