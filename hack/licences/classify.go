// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "strings"

// licence is what the text of a licence means for this project.
type licence struct {
	name string
	// note says what to observe.
	note string
	// refused says why this project may not link it; empty: it may.
	refused string
}

// classify recognizes the licences of Go modules by their words.
func classify(text string) licence {
	words := strings.Join(strings.Fields(strings.ToLower(text)), " ")
	has := func(all ...string) bool {
		for _, part := range all {
			if !strings.Contains(words, part) {
				return false
			}
		}
		return true
	}
	switch {
	case has("mozilla public license", "2.0"): // its text names those below
		return licence{name: "MPL-2.0", note: "changed files of it must be published; linked unchanged"}
	case has("gnu affero general public license"):
		return licence{name: "AGPL", refused: "it would bind this project"}
	case has("gnu lesser general public license"):
		return licence{name: "LGPL", refused: "static linking needs more than a notice"}
	case has("gnu general public license"):
		return licence{name: "GPL", refused: "it would bind this project"}
	case has("apache license", "version 2.0"), has("licensed under the apache license"):
		return licence{name: "Apache-2.0"}
	case has("permission is hereby granted, free of charge"):
		return licence{name: "MIT"}
	case has("redistribution and use in source and binary forms", "neither the name"), has("redistribution and use in source and binary forms", "may be used to endorse"):
		return licence{name: "BSD-3-Clause"}
	case has("redistribution and use in source and binary forms"):
		return licence{name: "BSD-2-Clause"}
	case has("permission to use, copy, modify, and", "distribute this software for any"):
		return licence{name: "ISC"}
	case has("creative commons", "cc0"), has("public domain"):
		return licence{name: "public domain"}
	}
	return licence{name: "unknown", refused: "its text is not recognized; read it, and add it to hack/licences"}
}
