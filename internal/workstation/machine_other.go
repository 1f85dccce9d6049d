// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package workstation

import "errors"

var errUnread = errors.New("this operating system does not show it")

// synchronised reports whether the kernel knows that the clock is kept right.
func synchronised() (bool, error) { return false, errUnread }

// availableMemory is what can be used without swapping.
func availableMemory() (uint64, error) { return 0, errUnread }
