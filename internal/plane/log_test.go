// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const stacks = "\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:7 +0x1d\ncreated by main.run in goroutine 1\n\t/src/main.go:3 +0x2a\n"

func TestTheLastLineOfACrashIsItsCause(t *testing.T) {
	for reason, c := range map[string]struct{ log, want string }{
		"an end in peace":   {"one\ntwo\n", "two"},
		"a panic":           {"one\npanic: tea is cold" + stacks, "panic: tea is cold"},
		"a fatal error":     {"one\nfatal error: out of tea\n" + strings.Repeat(stacks, 100), "fatal error: out of tea"},
		"a word of a panic": {"no panic: all is well\n", "no panic: all is well"},
		"nothing":           {"", ""},
	} {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, []byte(c.log), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := LastLine(path); got != c.want {
			t.Errorf("%s: %q, want %q", reason, got, c.want)
		}
	}
}

func TestTheLogOfACrashIsKept(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "logs"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"panic: tea is cold" + stacks, "second\n", "third\n", "fourth\n"} {
		log, err := openLog(dir, "etcd")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := log.WriteString(text); err != nil {
			t.Fatal(err)
		}
		_ = log.Close()
	}
	for name, want := range map[string]string{"etcd.log": "fourth", "etcd.log.previous": "third", "etcd.log.crash": "panic: tea is cold"} {
		if got := LastLine(filepath.Join(dir, "logs", name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
