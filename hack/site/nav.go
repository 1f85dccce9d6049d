// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// section is a part of the navigation.
type section struct {
	title string
	// folders have its pages; each page is in the first section that names its folder.
	folders []string
	// first are the pages that come before the others, by path.
	first []string
}

// contents is the navigation. Pages of other folders can be reached by links.
var contents = []section{
	{"Start", []string{"."}, []string{"README.md", "ARCHITECTURE.md"}},
	{"Getting started", []string{"docs/getting-started"}, nil},
	{"Concepts", []string{"docs/concepts"}, []string{"docs/concepts/bootstrap.md", "docs/concepts/rehearsal.md", "docs/concepts/providers.md"}},
	{"Reference", []string{"docs/reference"}, []string{"docs/reference/cli.md", "docs/reference/reasons.md", "docs/reference/metrics.md", "docs/reference/traces.md"}},
	{"Runbooks", []string{"docs/runbooks"}, nil},
	{"Charts", []string{"charts"}, []string{"charts/README.md"}},
	{"Contributing", []string{"docs/contributing"}, nil},
	{"Decisions", []string{"docs/adr"}, nil},
	{"More", []string{"docs"}, nil},
}

// sections names the sections by the folders that links point to.
func (s *site) sections() map[string]string {
	all := map[string]string{}
	for _, c := range contents {
		for _, folder := range c.folders {
			all[folder] = c.title
		}
	}
	return all
}

// menu is one section with its pages, in order.
type menu struct {
	Title string
	ID    string
	Open  bool
	Pages []item
}

// item is a page in a menu.
type item struct {
	Title, Link string
	Here        bool
}

// menus is the navigation as the page sees it.
func (s *site) menus(here *page) (all []menu) {
	for _, c := range contents {
		m := menu{Title: c.title, ID: slug(c.title), Open: here.name == "README.md"}
		for _, p := range s.in(c) {
			m.Pages = append(m.Pages, item{p.title, relative(here.target(), p.target(), ""), p == here})
			m.Open = m.Open || p == here
		}
		if len(m.Pages) > 0 {
			all = append(all, m)
		}
	}
	return all
}

// in returns the pages of a section.
func (s *site) in(c section) (found []*page) {
	for _, p := range s.pages {
		if slices.ContainsFunc(c.folders, func(f string) bool {
			return f == path.Dir(p.name) || f == "charts" && strings.HasPrefix(p.name, "charts/")
		}) {
			found = append(found, p)
		}
	}
	rank := func(p *page) int {
		if i := slices.Index(c.first, p.name); i >= 0 {
			return i
		}
		return len(c.first)
	}
	slices.SortFunc(found, func(a, b *page) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(strings.ToLower(a.order()), strings.ToLower(b.order())))
	})
	return found
}

// order is what pages of one rank are sorted by: decisions by number, others by title.
func (p *page) order() string {
	if strings.HasPrefix(p.name, "docs/adr/") {
		return p.name
	}
	return p.title
}
