// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const version = "v9.8.7-image-test"

// Providers are one program with other drivers: the first one is built for all.
func TestEachBinaryIsStaticAndKnowsItsVersion(t *testing.T) {
	mains, err := filepath.Glob("../../cmd/*")
	mains = slices.CompactFunc(mains, func(a, b string) bool { return isProvider(a) && isProvider(b) })
	if err != nil || len(mains) == 0 {
		t.Fatalf("no binaries in cmd: %v", err)
	}
	watchSources(t)
	dir := t.TempDir()
	for _, main := range mains {
		name := filepath.Base(main)
		t.Run(name, func(t *testing.T) {
			build(t, name, dir)
			path := filepath.Join(dir, name)
			// Other systems have other formats; images are for Linux.
			if runtime.GOOS == "linux" {
				if err := Static(path); err != nil {
					t.Error(err)
				}
			}
			out, err := exec.CommandContext(t.Context(), path, "--version").CombinedOutput()
			if err != nil || !strings.Contains(string(out), version) {
				t.Errorf("%s --version: %v, %q", name, err, out)
			}
		})
	}
}

func isProvider(main string) bool {
	return strings.HasPrefix(filepath.Base(main), "butler-provider-")
}

// watchSources looks at everything the binaries are made of: go test reuses an
// old result unless a file that the test itself looked at has changed.
func watchSources(t *testing.T) {
	t.Helper()
	for _, root := range []string{"Makefile", "go.mod", "api", "charts", "cmd", "config", "internal", "provider"} {
		err := filepath.WalkDir(filepath.Join("../..", root), func(path string, _ fs.DirEntry, err error) error {
			if err == nil {
				_, err = os.Stat(path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// build runs what the Dockerfile runs, with another folder for the result.
func build(t *testing.T, name, dir string) {
	t.Helper()
	dockerfile, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	commands := BuildCommands(string(dockerfile))
	if len(commands) != 1 {
		t.Fatalf("the Dockerfile has %d build commands, want one: %q", len(commands), commands)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", commands[0])
	cmd.Dir = "../.."
	// MAKEFLAGS would hand down what an outer make was told.
	cmd.Env = append(os.Environ(), "MAKEFLAGS=", "BINARY="+name, "VERSION="+version, "COMMIT=0123456789ab", "BIN="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", commands[0], err, out)
	}
}

func TestBuildCommands(t *testing.T) {
	const dockerfile = `FROM golang
RUN go mod download
# RUN make nothing
RUN --mount=type=cache,target=/x \
    make build-one BINARY=${BINARY}
`
	if diff := cmp.Diff([]string{"make build-one BINARY=${BINARY}"}, BuildCommands(dockerfile)); diff != "" {
		t.Error(diff)
	}
}

func TestStatic(t *testing.T) {
	cases := map[string]struct {
		content []byte
		static  bool
	}{
		"no loader":   {executable(t, elf.PT_LOAD), true},
		"a loader":    {executable(t, elf.PT_INTERP), false},
		"not an exec": {[]byte("text"), false},
	}
	for reason, c := range cases {
		t.Run(reason, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "exe")
			if err := os.WriteFile(path, c.content, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := Static(path); (err == nil) != c.static {
				t.Errorf("Static = %v, want static: %v", err, c.static)
			}
		})
	}
}

// executable is an ELF file with nothing but one program header.
func executable(t *testing.T, kind elf.ProgType) []byte {
	t.Helper()
	header := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT),
		Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
	}
	var out bytes.Buffer
	for _, part := range []any{header, elf.Prog64{Type: uint32(kind)}} {
		if err := binary.Write(&out, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}
