// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// expectBundleWithout demands a support bundle of a Ready cluster without secrets, and that
// why and timeline agree that it is Ready.
func (a adm) expectBundleWithout(secrets canaries, cluster string) {
	a.Helper()
	file := filepath.Join(a.TempDir(), "bundle.tar.gz")
	a.ok("support-bundle", cluster, "--to", file)
	files := unpack(a.T, file)
	for _, name := range []string{"why.txt", "facts.json", "timeline.json", "version.json", "logs/butleradm.log", "objects/machinerequests.yaml", "objects/events.yaml"} {
		if len(files[cluster+"/"+name]) == 0 {
			a.Errorf("the bundle has no %s", name)
		}
	}
	a.expectLogsOfTalos(files)
	for name, text := range files {
		secrets.expectNoneIn(a.T, "the bundle's "+name, text)
	}
	a.run("support-bundle", cluster, "--to", file).expect(a.T, 1, "file exists; choose another file with --to")
	if out := a.ok("why", cluster).out; !strings.Contains(out, cluster+" is Ready; nothing is wrong") {
		a.Errorf("why says:\n%s", out)
	}
	if out := a.ok("timeline", cluster).out; !strings.Contains(out, cluster+": Ready, ") || !strings.Contains(out, "InstallingAddons") || !strings.Contains(out, "###") {
		a.Errorf("the timeline is:\n%s", out)
	}
	if out := a.ok("status", cluster, "-o", "wide").out; !strings.Contains(out, "phases:    ") || !strings.Contains(out, "valid:     kubeconfig until ") || !strings.Contains(out, "ID ON THE PLATFORM") {
		a.Errorf("status says:\n%s", out)
	}
}

// expectLogsOfTalos demands the logs of all services that nodes have, and no failure to read one.
func (a adm) expectLogsOfTalos(files map[string][]byte) {
	a.Helper()
	read := map[string]int{}
	for name, text := range files {
		if _, file, is := strings.Cut(name, "/talos/"); is {
			read[strings.TrimSuffix(file[strings.LastIndex(file, "-")+1:], ".log")]++
			if strings.Contains(string(text), "read the log of") || len(text) == 0 {
				a.Errorf("%s: %q", name, text)
			}
		}
	}
	if read["kubelet"] != 6 || read["machined"] != 6 || read["etcd"] != 3 {
		a.Errorf("logs of services: %v", read)
	}
}

// unpack returns the files of an archive by name.
func unpack(t *testing.T, path string) map[string][]byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for archive := tar.NewReader(z); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(archive); err != nil {
			t.Fatal(err)
		}
	}
}
