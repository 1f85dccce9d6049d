// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/internal/failure"
)

func TestHomeThatIsAFileIsNamed(t *testing.T) {
	home := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(home, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BUTLER_HOME", home)
	if _, err := Create("c", "", true, PlaneChoice{}); err == nil || !strings.HasPrefix(err.Error(), "create the state directory: ") {
		t.Error(err)
	}
}

func TestWordsAreQuotedForAShell(t *testing.T) {
	for word, want := range map[string]string{"a/b.yaml": "a/b.yaml", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'"} {
		if got := Quoted(word); got != want {
			t.Errorf("%q is %s, want %s", word, got, want)
		}
	}
}

const lockFile = `{"name":"butleradm bootstrap dev","pid":4194304,"since":"2026-01-01T00:00:00Z"}`

// tree writes files below a new directory; a name that ends with a slash is a
// directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	if len(files) == 0 {
		return dir // it does not exist
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if strings.HasSuffix(name, "/") {
			err = errors.Join(err, os.MkdirAll(path, 0o755))
		} else {
			err = errors.Join(err, os.WriteFile(path, []byte(content), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// listing is everything in a directory.
func listing(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return ignoreMissing(err)
		}
		out = append(out, strings.TrimPrefix(path, dir))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A bootstrap that is refused leaves the directory as it was, whatever was in it.
func TestRefusedRunLeavesTheDirectoryAsItWas(t *testing.T) {
	for reason, files := range map[string]map[string]string{
		"nothing was there":               nil,
		"an empty directory":              {"./": ""},
		"files of the user":               {"notes.txt": "", "charts/values.yaml": ""},
		"an empty plane":                  {"plane/": ""},
		"an empty simulator":              {"sim/": ""},
		"a log of earlier":                {"butleradm.log": "earlier"},
		"a simulator of earlier":          {"sim/lock": lockFile, "sim/setup.json": "{}"},
		"a cluster of before the markers": {"plane/lock": lockFile, "plane/pki/ca.crt": "", "sim/lock": lockFile, "sim/proxy": "127.0.0.1:1", "butleradm.log": ""},
	} {
		for _, rehearsal := range []bool{true, false} {
			t.Run(reason+map[bool]string{true: ", rehearsed", false: ", real"}[rehearsal], func(t *testing.T) {
				t.Setenv("BUTLER_HOME", t.TempDir())
				dir := tree(t, files)
				before := listing(t, dir)
				mine, err := Create("dev", dir, rehearsal, PlaneChoice{})
				if err == nil {
					err = mine.Link()
				}
				for _, name := range []string{"plane/etcd/data", "butleradm.log"} {
					err = errors.Join(err, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700), os.WriteFile(filepath.Join(dir, name), nil, 0o600))
				}
				if err != nil {
					t.Fatal(err)
				}
				if !mine.NewPlane {
					return // it is another run's cluster, and nothing is discarded
				}
				if err := mine.Discard(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				if after := listing(t, dir); !slices.Equal(after, before) {
					t.Errorf("before: %q\nafter: %q", before, after)
				}
				if left := listing(t, filepath.Join(os.Getenv("BUTLER_HOME"), folder(rehearsal))); len(left) > 1 {
					t.Errorf("linked: %q", left)
				}
			})
		}
	}
}

func TestForeignFoldersAreRefusedAndStay(t *testing.T) {
	for reason, files := range map[string]map[string]string{
		"a simulator of the user":       {"sim/important.txt": ""},
		"a plane of the user":           {"plane/wing.stl": ""},
		"a lock of another program":     {"plane/lock": "1234", "plane/pki/x": ""},
		"a lock without a platform":     {"sim/lock": lockFile, "sim/x": ""},
		"one beside a cluster of ours":  {"plane/lock": lockFile, "plane/pki/x": "", "sim/important.txt": ""},
		"a file in place of the folder": {"sim": "x"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Setenv("BUTLER_HOME", t.TempDir())
			dir := tree(t, files)
			before := listing(t, dir)
			_, created := Create("dev", dir, false, PlaneChoice{})
			_, found := Choice{StateDir: dir}.Find("dev")
			_, placed := Choice{StateDir: dir}.Place("dev")
			_, stopped := Choice{StateDir: dir}.FindRehearsals("stop", nil)
			for _, err := range []error{created, found, placed, stopped} {
				if failure.KindOf(err) != failure.Usage || !errors.Is(err, errForeign) {
					t.Errorf("got %v", err)
				}
			}
			if err := (Workspace{"dev", dir, true}).discard(t.Context()); err != nil {
				t.Error(err)
			}
			for _, path := range before {
				if strings.HasPrefix(path, "/sim") && !exists(filepath.Join(dir, path)) {
					t.Errorf("%s is gone", path)
				}
			}
		})
	}
}

func TestKindOfAClusterIsKnownFromItsPlane(t *testing.T) {
	simulator := map[string]string{"sim/lock": lockFile, "sim/proxy": ""}
	for reason, c := range map[string]struct {
		files map[string]string
		want  bool
	}{
		"a real one":                       {map[string]string{"plane/.butleradm": `{"rehearsal":false}`}, false},
		"a real one beside a simulator":    {map[string]string{"plane/.butleradm": `{"rehearsal":false}`, "sim/lock": lockFile, "sim/proxy": ""}, false},
		"a rehearsal without a simulator":  {map[string]string{"plane/.butleradm": `{"rehearsal":true}`}, true},
		"an older rehearsal":               {map[string]string{"plane/lock": lockFile, "plane/pki/x": "", "sim/lock": lockFile, "sim/proxy": ""}, true},
		"an older real one":                {map[string]string{"plane/lock": lockFile, "plane/pki/x": ""}, false},
		"a plane that was started by hand": {map[string]string{"plane/.butleradm": `{}`}, false},
	} {
		t.Setenv("BUTLER_HOME", t.TempDir())
		dir := tree(t, c.files)
		w, err := Choice{StateDir: dir}.Find("dev")
		if err != nil || w.Rehearsal != c.want {
			t.Errorf("%s: a rehearsal is %v, %v", reason, w.Rehearsal, err)
		}
		_, err = Create("dev", dir, !c.want, PlaneChoice{})
		if known := strings.Contains(c.files["plane/.butleradm"], "rehearsal"); known != (err != nil) {
			t.Errorf("%s: the other kind there: %v", reason, err)
		}
	}
	dir := tree(t, simulator)
	if _, err := (Choice{StateDir: dir}).Find("dev"); err == nil {
		t.Error("a simulator alone is no cluster")
	}
}

// living is the directory of a real cluster.
func living(t *testing.T) string {
	t.Helper()
	return tree(t, map[string]string{"plane/.butleradm": `{"rehearsal":false}`})
}

func TestNameOfALivingClusterIsNotRedirected(t *testing.T) {
	t.Setenv("BUTLER_HOME", t.TempDir())
	first := living(t)
	w := Workspace{"mgmt", first, false}
	if err := w.Link(); err != nil {
		t.Fatal(err)
	}
	second := tree(t, nil)
	_, err := Create("mgmt", second, false, PlaneChoice{})
	if failure.KindOf(err) != failure.Usage || !strings.Contains(err.Error(), "the cluster mgmt of this machine is in "+first+"; give the new one another name") {
		t.Errorf("a new one: %v", err)
	}
	if exists(second) {
		t.Error("its directory was created")
	}
	// A second one that exists already continues, but does not take the name.
	third := living(t)
	mine, err := Create("mgmt", third, false, PlaneChoice{})
	if err == nil {
		err = mine.Link()
	}
	if found, _ := (Choice{}).Find("mgmt"); err != nil || found.Dir != first {
		t.Errorf("the name points to %s, %v", found.Dir, err)
	}
	if want := "butleradm destroy mgmt --state-dir " + third; mine.Command("destroy") != want {
		t.Errorf("it is destroyed with %q, want %q", mine.Command("destroy"), want)
	}
	// The first is forgotten: its name is free.
	if err := w.discard(t.Context()); err != nil {
		t.Fatal(err)
	}
	if mine, err = Create("mgmt", second, false, PlaneChoice{}); err == nil {
		err = mine.Link()
	}
	if found, _ := (Choice{}).Find("mgmt"); err != nil || found.Dir != second {
		t.Errorf("the name points to %s, %v", found.Dir, err)
	}
}

func TestForgottenStateIsRemovedWithWhatWasCreatedForIt(t *testing.T) {
	for reason, c := range map[string]struct {
		before map[string]string
		left   []string
	}{
		"a directory of our own": {nil, nil},
		"one of the user's":      {map[string]string{"notes.txt": ""}, []string{"", "/notes.txt"}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Setenv("BUTLER_HOME", t.TempDir())
			dir := tree(t, c.before)
			mine, err := Create("dev", dir, true, PlaneChoice{})
			if err == nil {
				err = errors.Join(mine.Link(), os.WriteFile(mine.LogFile(), nil, 0o600), mine.discard(t.Context()))
			}
			if left := listing(t, dir); err != nil || !slices.Equal(left, c.left) {
				t.Errorf("left %q, %v", left, err)
			}
		})
	}
}
