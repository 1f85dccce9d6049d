// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// repository is where files are that are no pages.
const repository = "https://github.com/butlerdotdev/butler/blob/main/"

// check resolves all links and changes them to those of the site.
func (s *site) check() error {
	var broken []error
	for _, name := range slices.Sorted(maps.Keys(s.pages)) {
		p := s.pages[name]
		err := ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if entering {
				broken = append(broken, s.resolve(p, n))
			}
			return ast.WalkContinue, nil
		})
		broken = append(broken, err)
	}
	return errors.Join(broken...)
}

// resolve checks one link and replaces its destination.
func (s *site) resolve(p *page, n ast.Node) error {
	var to *[]byte
	where := s.file
	switch n := n.(type) {
	case *ast.Link:
		to = &n.Destination
	case *ast.Image:
		to, where = &n.Destination, s.picture
	default:
		return nil
	}
	s.links++
	is, err := s.destination(p, string(*to), where)
	if err != nil {
		return fmt.Errorf("%s: link to %s: %w", p.name, *to, err)
	}
	*to = []byte(is)
	return nil
}

// destination is where a link of a page points to in the site; where is that for a file that is
// no page.
func (s *site) destination(p *page, to string, where func(*page, string) (string, error)) (string, error) {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() {
		return to, err
	}
	name := p.name
	if u.Path != "" {
		name = path.Join(path.Dir(p.name), u.Path)
	}
	if target, ok := s.pages[name]; ok {
		if u.Fragment != "" && !target.anchors[u.Fragment] {
			return "", fmt.Errorf("%s has no heading #%s", name, u.Fragment)
		}
		return relative(p.target(), target.target(), u.Fragment), nil
	}
	if strings.HasPrefix(name, "../") {
		return "", errors.New("it is outside of the repository")
	}
	return where(p, name)
}

// picture is a file that a page shows: the site has a copy.
func (s *site) picture(p *page, name string) (string, error) {
	if _, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(name))); err != nil {
		return "", errors.New("there is no such file")
	}
	s.pictures[name] = true
	return relative(p.target(), name, ""), nil
}

// file is a link to a file or folder that is no page: a folder of pages, or the repository.
func (s *site) file(p *page, name string) (string, error) {
	info, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(name)))
	if err != nil {
		return "", errors.New("there is no such file")
	}
	if index, ok := s.sections()[name]; ok && info.IsDir() {
		return relative(p.target(), "index.html", slug(index)), nil
	}
	return repository + name, nil
}

// relative is the way from one file of the site to another.
func relative(from, to, fragment string) string {
	rel, err := filepath.Rel(path.Dir(from), to)
	if err != nil {
		return to
	}
	if from == to {
		rel = ""
	}
	if fragment != "" {
		rel += "#" + fragment
	}
	return filepath.ToSlash(rel)
}
