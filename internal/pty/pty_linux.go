// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package pty opens pseudoterminals, on which commands behave as they do for people.
package pty

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// Size is the size of a terminal.
type Size struct{ Rows, Columns uint16 }

// Start starts a command with a new terminal as its input, output and errors, and returns the
// side of the terminal that a person would look at. The caller closes it.
func Start(cmd *exec.Cmd, s Size) (*os.File, error) {
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if err := start(cmd, screen, s); err != nil {
		return nil, errors.Join(err, screen.Close())
	}
	return screen, nil
}

func start(cmd *exec.Cmd, screen *os.File, s Size) error {
	fd := int(screen.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return err
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return err
	}
	if err := Resize(screen, s); err != nil {
		return err
	}
	line, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = line, line, line
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	return errors.Join(cmd.Start(), line.Close())
}

// Resize changes the size of a terminal, as a person does who drags its window.
func Resize(screen *os.File, s Size) error {
	return unix.IoctlSetWinsize(int(screen.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: s.Rows, Col: s.Columns})
}
