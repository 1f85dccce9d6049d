// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEveryLinkOfTheRepositoryPointsToSomething(t *testing.T) {
	s, err := load("../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.check(); err != nil {
		t.Error(err)
	}
	if s.links < 200 {
		t.Errorf("only %d links were found", s.links)
	}
}

func TestEveryPageOfDocsIsInTheNavigation(t *testing.T) {
	s, err := load("../..")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, c := range contents {
		for _, p := range s.in(c) {
			if listed[p.name] {
				t.Errorf("%s is listed twice", p.name)
			}
			listed[p.name] = true
		}
	}
	for name := range s.pages {
		if strings.HasPrefix(name, "docs/") && !listed[name] {
			t.Errorf("%s is not in the navigation; add its folder to contents", name)
		}
	}
}

func TestNoPageHasMarksOfAMerge(t *testing.T) {
	s, err := load("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range s.pages {
		for line := range strings.SplitSeq(string(p.source), "\n") {
			if strings.HasPrefix(line, "<<<<<<< ") || strings.HasPrefix(line, ">>>>>>> ") {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}

// write puts files into a repository of their own.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		if err := put(filepath.Join(root, filepath.FromSlash(name)), []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestBrokenLinksAreNamed(t *testing.T) {
	for reason, test := range map[string]struct{ link, want string }{
		"page":                  {"[x](docs/none.md)", "there is no such file"},
		"heading of the page":   {"[x](#none)", "README.md has no heading #none"},
		"heading of another":    {"[x](docs/other.md#none)", "docs/other.md has no heading #none"},
		"image":                 {"![x](none.svg)", "there is no such file"},
		"outside":               {"[x](../secret.md)", "outside of the repository"},
		"heading that exists":   {"[x](docs/other.md#two-words-1)", ""},
		"second of one name":    {"[x](docs/other.md#again-1)", ""},
		"file that is no page":  {"[x](LICENSE)", ""},
		"link to another site":  {"[x](https://example.com/none)", ""},
		"link in code is none":  {"`[x](none.md)`", ""},
		"link in a table":       {"| a |\n|---|\n| [x](none.md) |", "there is no such file"},
		"folder of the section": {"[x](docs)", ""},
	} {
		root := write(t, map[string]string{
			"README.md": "# Home\n\n" + test.link + "\n", "docs/other.md": "# Other\n\n## Two `words`!\n\n## Two words?\n\n## Again\n\n## Again\n", "LICENSE": "x",
		})
		err := run(root, filepath.Join(root, "site"), "")
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", reason, err, test.want)
		}
	}
}

func TestSiteIsReadableByItself(t *testing.T) {
	root := write(t, map[string]string{
		"README.md": "# Home\n\nSee [other](docs/concepts/other.md#part) and [licence](LICENSE).\n", "LICENSE": "x", "docs/images/a.svg": "<svg/>",
		"docs/concepts/other.md": "# Other\n\n## Part\n\n[home](../../README.md)\n\n![a](../images/a.svg)\n\n| a | b |\n|---|---|\n| 1 | `2` |\n",
	})
	to := filepath.Join(root, "dist", "site")
	if err := run(root, to, "v1.2.3"); err != nil {
		t.Fatal(err)
	}
	for file, wants := range map[string][]string{
		"index.html":               {`href="docs/concepts/other.html#part"`, `href="` + repository + `LICENSE"`, "v1.2.3", `<link rel="stylesheet" href="style.css">`},
		"docs/images/a.svg":        {"<svg/>"},
		"docs/concepts/other.html": {`<a href="../../index.html">home</a>`, `<h2 id="part">`, `<img src="../images/a.svg"`, "<td><code>2</code></td>", `href="../../style.css"`, `aria-current="page"`, "<title>Other · Butler</title>"},
	} {
		data, err := os.ReadFile(filepath.Join(to, filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(data), want) {
				t.Errorf("%s lacks %s:\n%s", file, want, data)
			}
		}
		if strings.Contains(string(data), "<script") {
			t.Errorf("%s has a script", file)
		}
	}
}

func TestAPageWithoutATitleIsRefused(t *testing.T) {
	if err := run(write(t, map[string]string{"README.md": "no title\n"}), t.TempDir(), ""); err == nil || !strings.Contains(err.Error(), "README.md has no title") {
		t.Error(err)
	}
}
