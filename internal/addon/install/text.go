// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"regexp"
	"strings"
)

// maxText bounds the message of one addon.
const maxText = 600

var (
	// localPort is one that is another one in the next attempt.
	localPort = regexp.MustCompile(`(read|write) (tcp|udp) \S+->`)
	// podName is that of one pod among several alike.
	podName = regexp.MustCompile(`pods? "[^"]*" `)
	spaces  = regexp.MustCompile(`\s*\n\s*`)
)

// tidy makes one line of what others have said, without what differs from one
// time to the next.
func tidy(text string) string {
	text = spaces.ReplaceAllString(strings.TrimSpace(text), "; ")
	text = localPort.ReplaceAllString(text, "$1 $2 ")
	text = podName.ReplaceAllString(text, "a pod ")
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return text
}
