// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package image

import "strings"

// BuildCommands returns the shell commands of the RUN instructions that call
// make, without their mounts.
func BuildCommands(dockerfile string) []string {
	var commands []string
	joined := strings.ReplaceAll(dockerfile, "\\\n", " ")
	for line := range strings.Lines(joined) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != "RUN" {
			continue
		}
		words = words[1:]
		for len(words) > 0 && strings.HasPrefix(words[0], "--") {
			words = words[1:]
		}
		if len(words) > 0 && words[0] == "make" {
			commands = append(commands, strings.Join(words, " "))
		}
	}
	return commands
}
