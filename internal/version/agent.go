// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"crypto/rand"
	"fmt"
)

// Agent returns the user agent of a program for platforms: no two processes have the
// same, so that their records show who has written.
func Agent(program string) string {
	id := make([]byte, 4)
	_, _ = rand.Read(id) // never fails
	return fmt.Sprintf("%s/%s (%x)", program, Version, id)
}
