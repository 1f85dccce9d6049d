// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package image reads the Dockerfile and the executables that it puts into
// images, so that tests can check both without a Docker engine.
package image

import (
	"debug/elf"
	"fmt"
	"strings"
)

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

// Static returns an error unless the ELF executable runs without a loader and
// without shared libraries, as an image without a libc demands.
func Static(path string) error {
	file, err := elf.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	for _, header := range file.Progs {
		if header.Type == elf.PT_INTERP {
			return fmt.Errorf("%s asks for a loader", path)
		}
	}
	libraries, err := file.ImportedLibraries()
	if err != nil {
		return err
	}
	if len(libraries) > 0 {
		return fmt.Errorf("%s needs %s", path, strings.Join(libraries, ", "))
	}
	return nil
}
