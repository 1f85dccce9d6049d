// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"embed"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed template
var templates embed.FS

// paths are where the templates go; %s is the type.
var paths = map[string]string{
	"provider.go":         "provider/%s/provider.go",
	"machines.go":         "provider/%s/machines.go",
	"conformance_test.go": "provider/%s/conformance_test.go",
	"README.md":           "provider/%s/README.md",
	"main.go":             "cmd/butler-provider-%s/main.go",
	"main_test.go":        "cmd/butler-provider-%s/main_test.go",
	"platform.go":         "internal/sim/%s/platform.go",
	"sim.md":              "docs/contributing/sim-%s.md",
	"guide.md":            "docs/getting-started/%s.md",
	"single-node.yaml":    "configs/examples/%s-single-node.yaml",
	"ha.yaml":             "configs/examples/%s-ha.yaml",
	"matrix.yaml":         "internal/cli/matrix/testdata/%s.yaml",
}

// files returns the new files of a provider, by path.
func (p platform) files(root string) (map[string][]byte, error) {
	out := map[string][]byte{}
	for name, path := range paths {
		content, err := p.render(name)
		if err != nil {
			return nil, err
		}
		out[strings.ReplaceAll(path, "%s", string(p.Type))] = content
	}
	return out, p.addChart(root, out)
}

func (p platform) render(name string) ([]byte, error) {
	t, err := template.ParseFS(templates, "template/"+name+".tmpl")
	if err != nil {
		return nil, err
	}
	out := &bytes.Buffer{}
	if err := t.Execute(out, p); err != nil {
		return nil, err
	}
	if strings.HasSuffix(name, ".go") {
		return format.Source(out.Bytes())
	}
	return out.Bytes(), nil
}

// addChart derives the chart from that of Harvester: charts of providers differ in
// names only. `make manifests` writes the rest of it.
func (p platform) addChart(root string, out map[string][]byte) error {
	const model = "charts/butler-provider-harvester"
	for _, file := range []string{"Chart.yaml", "values.yaml", "README.md", "templates/provider.yaml"} {
		content, err := os.ReadFile(filepath.Join(root, model, file))
		if err != nil {
			return err
		}
		text := strings.NewReplacer("harvester", string(p.Type), "Harvester", p.Title).Replace(string(content))
		out["charts/butler-provider-"+string(p.Type)+"/"+file] = []byte(text)
	}
	return nil
}
