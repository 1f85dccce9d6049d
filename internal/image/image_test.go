// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/v1/empty"
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
			// Other systems have other formats; images are for Linux.
			if runtime.GOOS != "linux" {
				t.Skip("images are for Linux; run this test there")
			}
			rootfs := filepath.Join(t.TempDir(), "rootfs")
			build(t, name, dir, rootfs)
			path := filepath.Join(dir, name)
			compare(t, path, rootfs)
			out, err := exec.CommandContext(t.Context(), path, "--version").CombinedOutput()
			if err != nil || !strings.Contains(string(out), version) {
				t.Errorf("%s --version: %v, %q", name, err, out)
			}
		})
	}
}

// compare sees that the directory has the files of the image, and no others.
func compare(t *testing.T, executable, rootfs string) {
	t.Helper()
	files, err := Files(executable)
	if err != nil {
		t.Fatal(err)
	}
	want, got := map[string]string{}, map[string]string{}
	for _, f := range files {
		want[strings.TrimSuffix(f.Name, "/")] = fmt.Sprintf("%v %x", f.FileMode(), sha256.Sum256(f.Content))
	}
	err = filepath.WalkDir(rootfs, func(path string, d fs.DirEntry, err error) error {
		name, ok := strings.CutPrefix(path, rootfs+"/")
		if err != nil || !ok {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var content []byte
		if !d.IsDir() {
			content, err = os.ReadFile(path)
		}
		got[name] = fmt.Sprintf("%v %x", info.Mode()&^fs.ModeDir, sha256.Sum256(content))
		return err
	})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("the Dockerfile's image differs: %v %s", err, diff)
	}
}

// TestTheDockerfileHasTheSettingsOfImages: user, entry point and environment.
func TestTheDockerfileHasTheSettingsOfImages(t *testing.T) {
	data, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	file, err := config(empty.Image, Program{}, Release{})
	if err != nil {
		t.Fatal(err)
	}
	c := file.Config
	for _, line := range []string{
		"USER " + c.User, fmt.Sprintf("ENTRYPOINT [%q]", c.Entrypoint[0]), "ENV " + strings.Join(c.Env, " "), "WORKDIR " + c.WorkingDir,
	} {
		if !strings.Contains(string(data), "\n"+line+"\n") {
			t.Errorf("the Dockerfile lacks %s", line)
		}
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
func build(t *testing.T, name, dir, rootfs string) {
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
	// MAKEFLAGS would hand down the variables of an outer make.
	cmd.Env = append(os.Environ(), "MAKEFLAGS=", "BINARY="+name, "VERSION="+version, "COMMIT=0123456789ab", "BIN="+dir, "DATE=2026-03-04T05:06:07Z", "ROOTFS="+rootfs)
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
