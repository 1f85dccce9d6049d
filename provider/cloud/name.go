// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Short returns a name of at most so many characters, at least 10; one that is too long
// ends with a hash of the whole name.
func Short(name string, most int) string {
	if len(name) <= most {
		return name
	}
	return strings.TrimRight(name[:most-9], "-") + "-" + Hash(8, name)
}

// Hash returns so many hexadecimal digits, at most 64, that depend on all of the texts and
// their order only.
func Hash(digits int, texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, " ")))
	return hex.EncodeToString(sum[:])[:digits]
}
