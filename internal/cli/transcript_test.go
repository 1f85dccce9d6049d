// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write the transcripts of testdata")

// TestTranscripts runs the commands of testdata/*.txtar, each in a directory with the files of
// the archive, and compares everything that they print, and their exit codes. A transcript
// needs no cluster: they show how commands refuse mistakes.
func TestTranscripts(t *testing.T) {
	all, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	for _, path := range all {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a := newAdm(t)
			a.expectTranscript(path, t.TempDir())
			if left, err := filepath.Glob(filepath.Join(a.home, "*", "*")); err != nil || len(left) != 0 {
				t.Errorf("state was left: %v, %v", left, err)
			}
		})
	}
}

// expectTranscript runs the commands of a transcript in a directory.
func (a adm) expectTranscript(path, dir string) {
	a.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		a.Fatal(err)
	}
	for _, f := range archive.Files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600); err != nil {
			a.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS("../../configs/examples")); err != nil {
		a.Fatal(err)
	}
	var got bytes.Buffer
	for line := range strings.SplitSeq(string(archive.Comment), "\n") {
		switch {
		case strings.HasPrefix(line, "#"), line == "" && !strings.HasSuffix(got.String(), "\n\n"):
			fmt.Fprintln(&got, line)
		case strings.HasPrefix(line, "$ butleradm"):
			fmt.Fprint(&got, line, "\n", a.played(dir, strings.Fields(line)[2:]))
		}
	}
	if *update {
		archive.Comment = got.Bytes()
		if err := os.WriteFile(path, txtar.Format(archive), 0o600); err != nil {
			a.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(archive.Comment), got.String()); diff != "" {
		a.Errorf("%s (-want +got; -update writes it)\n%s", path, diff)
	}
}

// played is what a command prints, errors marked with "!", and its exit code unless that is 0.
func (a adm) played(dir string, args []string) string {
	a.Helper()
	cmd, out, err := a.command(args...)
	cmd.Dir = dir
	_ = cmd.Run()
	text := out.String()
	for line := range strings.Lines(err.String()) {
		text += "! " + line
	}
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		text += fmt.Sprintf("[exit %d]\n", code)
	}
	return strings.NewReplacer(a.home, "HOME", dir, "DIR").Replace(text)
}
