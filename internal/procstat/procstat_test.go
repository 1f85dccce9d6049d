// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package procstat

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func TestThisProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		if _, err := Of(os.Getpid()); err == nil {
			t.Error("no error without /proc")
		}
		return
	}
	s, err := Of(os.Getpid())
	for deadline := time.Now().Add(time.Minute); err == nil && s.CPU == 0 && time.Now().Before(deadline); { // until a tick of the clock
		s, err = Of(os.Getpid())
	}
	if err != nil || s.CPU <= 0 || s.Resident < 1 || s.Peak < s.Resident-1 {
		t.Errorf("%+v, %v", s, err)
	}
	if all, anonymous, err := Proportional(os.Getpid()); err != nil || anonymous <= 0 || all < anonymous || all > s.Peak+1 {
		t.Errorf("%v MiB, %v of them anonymous, %v", all, anonymous, err)
	}
}

func TestFieldsFollowTheName(t *testing.T) {
	dir := t.TempDir()
	stat := "7 (a b) c) S 1 7 7 0 -1 4194560 1 2 3 4 150 50 0 0 20 0 1 0 1 2 3\n"
	if err := os.WriteFile(filepath.Join(dir, "stat"), []byte(stat), 0o600); err != nil {
		t.Fatal(err)
	}
	if used, err := cpu(dir); err != nil || used != 2*time.Second {
		t.Errorf("used %s, %v", used, err)
	}
}
