// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenant_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/internal/tenant"
)

var update = flag.Bool("update", false, "write the golden files")

func TestObjectsAreThoseOfTheGoldenFiles(t *testing.T) {
	for _, name := range inputs(t) {
		for _, core := range []string{"v1beta1", "v1beta2"} {
			t.Run(name+"/"+core, func(t *testing.T) {
				in := load(t, name)
				in.Core = core
				golden(t, filepath.Join("testdata", "objects", name+"-"+core+".yaml"), documents(t, build(t, in)))
			})
		}
	}
}

// documents are the objects, then the status, as YAML.
func documents(t *testing.T, o tenant.Objects) []byte {
	t.Helper()
	all := o.InOrder()
	if o.Status != nil {
		all = append(all, o.Status)
	}
	var out bytes.Buffer
	for _, u := range all {
		data, err := yaml.Marshal(u.Object)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString("---\n")
		out.Write(data)
	}
	for _, w := range o.Warnings {
		out.WriteString("# warning: " + w + "\n")
	}
	return out.Bytes()
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // a folder of the repository
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil { //nolint:gosec // a file of the repository
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: %s\nrun the test with -update if this is intended", file, diff)
	}
}
