// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

// Package pty opens pseudoterminals, on which commands behave as they do for people.
package pty

import (
	"errors"
	"os"
	"os/exec"
)

// Size is the size of a terminal.
type Size struct{ Rows, Columns uint16 }

// Start is for Linux only.
func Start(*exec.Cmd, Size) (*os.File, error) {
	return nil, errors.New("pseudoterminals are opened on Linux only")
}

// Resize is for Linux only.
func Resize(*os.File, Size) error {
	return errors.New("pseudoterminals are resized on Linux only")
}
