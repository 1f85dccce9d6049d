// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command licences lists the modules that the programs of this project link, with their
// licences. It fails on a licence that is not known, or that this project may not use.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

// module is one that is linked.
type module struct {
	Path, Version, Dir string
	Main               bool
	Replace            *module
}

func main() {
	texts := flag.String("texts", "", "`FILE` that the list and the texts of all licences are written to")
	flag.Parse()
	if err := run(*texts, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(texts string, out io.Writer) error {
	modules, err := linked()
	if err != nil {
		return err
	}
	var list, full bytes.Buffer
	table := tabwriter.NewWriter(&list, 0, 4, 2, ' ', 0)
	var wrong []error
	for _, m := range modules {
		text, err := licenceText(m.Dir)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s %s: %w", m.Path, m.Version, err))
			continue
		}
		l := classify(text)
		if l.refused != "" {
			wrong = append(wrong, fmt.Errorf("%s %s: %s: %s", m.Path, m.Version, l.name, l.refused))
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", m.Path, m.Version, l.name, l.note)
		fmt.Fprintf(&full, "\n---- %s %s (%s)\n\n%s\n", m.Path, m.Version, l.name, text)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if _, err := out.Write(list.Bytes()); err != nil {
		return err
	}
	if texts != "" {
		wrong = append(wrong, os.WriteFile(texts, append(list.Bytes(), full.Bytes()...), 0o644))
	}
	return errors.Join(wrong...)
}

// linked returns the modules of all programs, in the order of their paths.
func linked() ([]module, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=Module", "./cmd/...")
	cmd.Stderr = os.Stderr
	data, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	seen := map[string]module{}
	for d := json.NewDecoder(bytes.NewReader(data)); ; {
		var p struct{ Module *module }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		m := p.Module
		if m == nil || m.Main { // of the standard library, or of this project
			continue
		}
		if m.Replace != nil {
			m.Dir, m.Version = m.Replace.Dir, m.Replace.Version
		}
		seen[m.Path] = *m
	}
	var out []module
	for _, m := range seen {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// licenceText returns the licence of a module: that of its directory, or, in a repository with
// several modules, of a directory above.
func licenceText(dir string) (string, error) {
	for _, pattern := range []string{"LICENSE*", "LICENCE*", "license*", "COPYING*", "License*"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return "", err
		}
		for _, path := range found {
			if data, err := os.ReadFile(path); err == nil {
				return string(data), nil
			}
		}
	}
	return "", errors.New("it has no licence file")
}
