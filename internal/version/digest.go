// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"fmt"
	"regexp"
	"strings"
)

var digest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// ParseDigests reads digests in the form NAME=sha256:…, separated by commas.
func ParseDigests(text string) (map[string]string, error) {
	out := map[string]string{}
	for entry := range strings.SplitSeq(text, ",") {
		if entry == "" {
			continue
		}
		name, value, _ := strings.Cut(entry, "=")
		if name == "" || !digest.MatchString(value) {
			return nil, fmt.Errorf("%q is not the digest of an image: want NAME=sha256:…", entry)
		}
		out[name] = value
	}
	return out, nil
}
