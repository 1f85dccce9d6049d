// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// page is one page of the repository.
type page struct {
	name    string // path in the repository, with slashes
	title   string
	source  []byte
	tree    ast.Node
	anchors map[string]bool
}

// site is all pages, by path.
type site struct {
	root    string
	version string
	pages   map[string]*page
	// pictures are files that pages show, by path.
	pictures map[string]bool
	links    int
}

// load reads the pages of a repository.
func load(root string) (*site, error) {
	s := &site{root: root, pages: map[string]*page{}, pictures: map[string]bool{}}
	err := filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return skip(root, file, e, err)
		}
		if !strings.HasSuffix(file, ".md") {
			return nil
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		p, err := parse(root, filepath.ToSlash(name))
		if err != nil {
			return err
		}
		s.pages[p.name] = p
		return nil
	})
	return s, err
}

// skip leaves out folders without pages of the project.
func skip(root, file string, e fs.DirEntry, err error) error {
	if err == nil && file != root && (strings.HasPrefix(e.Name(), ".") || e.Name() == "bin" || e.Name() == "dist" || e.Name() == "testdata") {
		return fs.SkipDir
	}
	return err
}

// markdown reads and writes pages as GitHub does.
func markdown() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
}

func parse(root, name string) (*page, error) {
	source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	p := &page{name: name, source: source, anchors: map[string]bool{}}
	ids := &slugs{seen: map[string]int{}}
	p.tree = markdown().Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(ids))))
	err = ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if h, ok := n.(*ast.Heading); ok && entering {
			p.heading(h)
		}
		return ast.WalkContinue, nil
	})
	if p.title == "" {
		return nil, fmt.Errorf("%s has no title: a line with # in front", name)
	}
	return p, err
}

func (p *page) heading(h *ast.Heading) {
	if h.Level == 1 && p.title == "" {
		p.title = string(plain(h, p.source))
	}
	if id, ok := h.AttributeString("id"); ok {
		p.anchors[string(id.([]byte))] = true
	}
}

// plain is the text of a node without its form.
func plain(n ast.Node, source []byte) []byte {
	var b bytes.Buffer
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
			continue
		}
		b.Write(plain(c, source))
	}
	return b.Bytes()
}

// target is the file of the page in the site.
func (p *page) target() string {
	if p.name == "README.md" {
		return "index.html"
	}
	if path.Base(p.name) == "README.md" {
		return path.Join(path.Dir(p.name), "index.html")
	}
	return strings.TrimSuffix(p.name, ".md") + ".html"
}
