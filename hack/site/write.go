// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	_ "embed"
	"html/template"
	"os"
	"path/filepath"
)

//go:embed page.html
var layout string

//go:embed style.css
var style []byte

// view is what the layout shows.
type view struct {
	Title, Style, Home, Source, Version string
	Menus                               []menu
	Body                                template.HTML
}

// write writes all pages and returns their number.
func (s *site) write(to string) (int, error) {
	t, err := template.New("page").Parse(layout)
	if err != nil {
		return 0, err
	}
	for _, p := range s.pages {
		if err := s.writePage(t, to, p); err != nil {
			return 0, err
		}
	}
	for name := range s.pictures {
		if err := copyFile(filepath.Join(to, filepath.FromSlash(name)), filepath.Join(s.root, filepath.FromSlash(name))); err != nil {
			return 0, err
		}
	}
	return len(s.pages), put(filepath.Join(to, "style.css"), style)
}

func copyFile(to, from string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return put(to, content)
}

func (s *site) writePage(t *template.Template, to string, p *page) error {
	var body, out bytes.Buffer
	if err := markdown().Renderer().Render(&body, p.source, p.tree); err != nil {
		return err
	}
	err := t.Execute(&out, view{
		Title: p.title, Style: relative(p.target(), "style.css", ""), Home: relative(p.target(), "index.html", ""),
		Source: repository + p.name, Version: s.version, Menus: s.menus(p),
		Body: template.HTML(body.String()), //nolint:gosec // pages of this repository, without HTML of their own
	})
	if err != nil {
		return err
	}
	return put(filepath.Join(to, filepath.FromSlash(p.target())), out.Bytes())
}

func put(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a site is for everyone
		return err
	}
	return os.WriteFile(path, content, 0o644) //nolint:gosec // a site is for everyone
}
