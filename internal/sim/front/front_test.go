// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package front

import (
	"path/filepath"
	"testing"
)

func TestFrontKeepsItsAddressIfItIsFree(t *testing.T) {
	file := filepath.Join(t.TempDir(), "front")
	first, err := Listen(file)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Listen(file) // while the first has it
	if err != nil {
		t.Fatal(err)
	}
	if first.Addr().String() == second.Addr().String() {
		t.Error("two have one address")
	}
	_, _ = first.Close(), second.Close()
	third, err := Listen(file)
	if err != nil {
		t.Fatal(err)
	}
	defer third.Close()
	if third.Addr().String() != second.Addr().String() {
		t.Errorf("%v, before %v", third.Addr(), second.Addr())
	}
}
