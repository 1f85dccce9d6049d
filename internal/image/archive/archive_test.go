// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/butlerdotdev/butler/internal/image/archive"
	"github.com/butlerdotdev/butler/internal/image/imagetest"
)

func write(t *testing.T, to string, names ...string) {
	t.Helper()
	w, err := archive.NewWriter(to, "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if _, err := w.Add(imagetest.Set(t, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestWhatWasWrittenIsRead(t *testing.T) {
	for reason, name := range map[string]string{"a directory": "images", "a file": "images.tar"} {
		t.Run(reason, func(t *testing.T) {
			to := filepath.Join(t.TempDir(), "new", name)
			write(t, to, "one", "two")
			write(t, to, "three", "four") // replaces
			a, err := archive.Open(to)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := a.Close(); err != nil {
					t.Error(err)
				}
			}()
			var got []string
			for _, i := range a.Images {
				got = append(got, i.Name+" "+i.Version)
				if len(i.Attached) != 1 {
					t.Errorf("%s has %d attached", i.Name, len(i.Attached))
				}
			}
			if diff := cmp.Diff([]string{"three v1.2.3", "four v1.2.3"}, got); diff != "" {
				t.Error(diff)
			}
			left, err := filepath.Glob(to + ".*")
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

func TestTwoFilesWithTheSameImagesAreEqual(t *testing.T) {
	dir := t.TempDir()
	var contents []string
	for _, name := range []string{"a.tar", "b.tar"} {
		write(t, filepath.Join(dir, name), "one")
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		contents = append(contents, string(data))
	}
	if contents[0] != contents[1] {
		t.Error("they differ")
	}
}

func TestDamagedContentIsRefused(t *testing.T) {
	cases := map[string]struct {
		damage func(t *testing.T, blob string)
		want   string
	}{
		"a changed byte": {func(t *testing.T, blob string) {
			data, err := os.ReadFile(blob)
			if err != nil {
				t.Fatal(err)
			}
			data[len(data)/2] ^= 1
			if err := os.WriteFile(blob, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "damaged"},
		"a missing file": {func(t *testing.T, blob string) {
			if err := os.Remove(blob); err != nil {
				t.Fatal(err)
			}
		}, "missing"},
	}
	for reason, c := range cases {
		t.Run(reason, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "images")
			write(t, dir, "one")
			c.damage(t, largest(t, dir))
			if _, err := archive.Open(dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Open = %v, want %s", err, c.want)
			}
		})
	}
}

// largest is the blob with the executable.
func largest(t *testing.T, dir string) string {
	t.Helper()
	blobs, err := filepath.Glob(filepath.Join(dir, "blobs/sha256/*"))
	if err != nil || len(blobs) == 0 {
		t.Fatalf("no blobs: %v", err)
	}
	size := func(path string) int64 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	return slices.MaxFunc(blobs, func(a, b string) int { return int(size(a) - size(b)) })
}

func TestOtherFilesAreNotReplaced(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "letter.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.NewWriter(dir, "v1.2.3"); err == nil {
		t.Error("a directory with other files was taken")
	}
}

func TestExportedImagesHaveTheirName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "images.tar")
	write(t, path, "butler-small")
	a, err := archive.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	const name = "registry.example.com/x/butler-small:v1.2.3"
	var out bytes.Buffer
	if err := a.Images[0].Export(&out, name, "amd64"); err != nil {
		t.Fatal(err)
	}
	m, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(out.Bytes())), nil })
	if err != nil || len(m) != 1 || !slices.Equal(m[0].RepoTags, []string{name}) {
		t.Errorf("%+v, %v", m, err)
	}
	if err := a.Images[0].Export(&out, name, "s390x"); err == nil || !strings.Contains(err.Error(), "is not there for linux/s390x") {
		t.Error(err)
	}
}
