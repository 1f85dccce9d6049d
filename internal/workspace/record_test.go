// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/plane/kind"
)

func TestAClusterKeepsItsPlane(t *testing.T) {
	on := func(cluster, namespace string) PlaneChoice {
		return PlaneChoice{Record{Kind: Guest, Cluster: cluster, Server: "https://one", Namespace: namespace}, []byte("access to " + cluster)}
	}
	none, embedded, kind := PlaneChoice{}, PlaneChoice{Record: Record{Kind: Embedded}}, PlaneChoice{Record: Record{Kind: Kind}}
	for reason, c := range map[string]struct {
		first, second PlaneChoice
		want          string // of the refusal
	}{
		"embedded by default":              {first: none, second: none},
		"embedded, now said":               {first: none, second: embedded},
		"a cluster, found without a flag":  {first: on("a", "x"), second: none},
		"the same cluster":                 {first: on("a", "x"), second: on("a", "x")},
		"another cluster":                  {first: on("a", "x"), second: on("b", "x"), want: "the plane of dev is namespace x of https://one, and a cluster keeps its plane"},
		"another namespace":                {first: on("a", "x"), second: on("a", "y"), want: "a cluster keeps its plane"},
		"embedded instead of a cluster":    {first: on("a", "x"), second: embedded, want: "a cluster keeps its plane"},
		"a cluster instead of embedded":    {first: none, second: on("a", "x"), want: "the plane of dev is embedded"},
		"KIND":                             {first: kind, second: none},
		"KIND, now said":                   {first: kind, second: kind},
		"KIND instead of embedded":         {first: none, second: kind, want: "the plane of dev is embedded"},
		"a cluster instead of KIND":        {first: kind, second: on("a", "x"), want: "the plane of dev is KIND cluster butler-dev-"},
		"embedded where nothing was known": {first: embedded, second: none},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Setenv("BUTLER_HOME", t.TempDir())
			first, err := Create("dev", "", true, c.first)
			if err != nil || !first.NewPlane {
				t.Fatal(err)
			}
			before := first.Plane()
			second, err := Create("dev", "", true, c.second)
			if c.want == "" && err != nil || c.want != "" && (failure.KindOf(err) != failure.Usage || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if second.NewPlane || first.Plane() != before {
				t.Errorf("the record became %+v", first.Plane())
			}
		})
	}
}

func TestANewKubeconfigOfTheSameClusterReplacesTheOld(t *testing.T) {
	t.Setenv("BUTLER_HOME", t.TempDir())
	choice := PlaneChoice{Record{Kind: Guest, Cluster: "a", Namespace: "x"}, []byte("old")}
	w, err := Create("dev", "", false, choice)
	if err != nil {
		t.Fatal(err)
	}
	choice.Kubeconfig = []byte("new")
	if _, err := Create("dev", "", false, choice); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(w.PlaneDir(), "kubeconfig")
	data, err := os.ReadFile(path)
	info, _ := os.Stat(path)
	if err != nil || string(data) != "new" || info.Mode().Perm() != 0o600 {
		t.Errorf("%q, %v", data, err)
	}
}

// A name that cannot be pulled may be corrected.
func TestANodeImageIsReplacedUntilThereIsANode(t *testing.T) {
	t.Setenv("BUTLER_HOME", t.TempDir())
	with := func(image string) PlaneChoice { return PlaneChoice{Record: Record{Kind: Kind, NodeImage: image}} }
	create := func(image, want string) Workspace {
		t.Helper()
		w, err := Create("dev", "", false, with(image))
		if err != nil || w.Plane().NodeImage != want {
			t.Errorf("%q: the node has %q, %v", image, w.Plane().NodeImage, err)
		}
		return w.Workspace
	}
	create("wrong:v1", "wrong:v1")
	w := create("right:v1", "right:v1")
	if err := os.WriteFile(kind.KubeconfigPath(w.PlaneDir()), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	create("", "right:v1")
	create("right:v1", "right:v1")
	_, err := Create("dev", "", false, with("late:v1"))
	if failure.KindOf(err) != failure.Usage || !strings.Contains(err.Error(), "has another image, right:v1; remove --node-image") {
		t.Error(err)
	}
}

func TestLoadedImagesAreRecorded(t *testing.T) {
	t.Setenv("BUTLER_HOME", t.TempDir())
	w, err := Create("dev", "", false, PlaneChoice{Record: Record{Kind: Kind}})
	if err == nil {
		err = w.MarkLoaded()
	}
	if r := w.Plane(); err != nil || !r.Loaded || r.Name == "" {
		t.Errorf("%+v, %v", r, err)
	}
}
