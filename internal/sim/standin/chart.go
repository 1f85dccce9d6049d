// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// chart is what a stand-in for a chart is made of.
type chart struct {
	app    string // version of what it installs
	values values
	parts  []part
	// crds are files of the chart's crds folder.
	crds map[string][]definition
	// templates are further files of its templates folder.
	templates map[string]string
}

// charts is the table of all stand-ins for charts, by the chart's name.
func charts() map[string]func(release) chart {
	return map[string]func(release) chart{
		"cilium":                       cilium,
		"aws-cloud-controller-manager": awsCloud,
		"cloud-provider-azure":         azureCloud,
		"cert-manager":                 certManager,
		"longhorn":                     longhorn,
		"metallb":                      metalLB,
		"traefik":                      traefik,
		"ingress-nginx":                ingressNginx,
		"steward":                      steward,
		"kamaji":                       kamaji,
		"flux2":                        flux,
		"butler-console":               console,
	}
}

// Chart is the stand-in of a chart.
type Chart struct {
	Name, Version, AppVersion, Description string
	Traits

	chart chart
}

// NewChart returns the stand-in for a chart of an addon, in whatever version.
func NewChart(addon, name, version string) (*Chart, error) {
	row, known := charts()[name]
	if !known {
		return nil, unknown("chart", name, slices.Collect(maps.Keys(charts())))
	}
	c := row(release{addon, version})
	return &Chart{
		Name: name, Version: version, AppVersion: c.app, Traits: traits(c.parts), chart: c,
		Description: "Replaces " + name + " in a rehearsal: its objects without what they do",
	}, nil
}

func (c *Chart) metadata() object {
	return object{
		"apiVersion": "v2", "type": "application",
		"name": c.Name, "version": c.Version, "appVersion": c.AppVersion, "description": c.Description,
	}
}

// Metadata is the content of Chart.yaml as JSON.
func (c *Chart) Metadata() ([]byte, error) { return json.Marshal(c.metadata()) }

// Archive is the packed chart. The same chart gives the same bytes.
func (c *Chart) Archive() ([]byte, error) {
	files, err := c.files()
	if err != nil {
		return nil, fmt.Errorf("make the stand-in for the chart %s: %w", c.Name, err)
	}
	return pack(c.Name, files)
}

// files of the chart by their path in it.
func (c *Chart) files() (map[string][]byte, error) {
	files := map[string][]byte{}
	var err error
	if files["Chart.yaml"], err = yaml.Marshal(c.metadata()); err != nil {
		return nil, err
	}
	if files["values.yaml"], err = yaml.Marshal(c.chart.values); err != nil {
		return nil, err
	}
	if files["values.schema.json"], err = c.chart.values.schema(); err != nil {
		return nil, err
	}
	for i, p := range c.chart.parts {
		if files[p.file(i)], err = p.template(); err != nil {
			return nil, err
		}
	}
	for name, all := range c.chart.crds {
		if files["crds/"+name], err = documents(definitions(all)); err != nil {
			return nil, err
		}
	}
	for name, content := range c.chart.templates {
		files["templates/"+name] = []byte(content)
	}
	return files, nil
}

func (p part) file(i int) string {
	return fmt.Sprintf("templates/%02d-%s.yaml", i, strings.ToLower(fmt.Sprint(p.object["kind"])))
}

// template of the object, under its condition.
func (p part) template() ([]byte, error) {
	content, err := text(p.object)
	if err != nil || p.when == "" {
		return content, err
	}
	return fmt.Appendf(nil, "{{- if %s }}\n%s{{- end }}\n", p.when, content), nil
}

// documents writes objects one after the other.
func documents(objects []object) ([]byte, error) {
	var out bytes.Buffer
	for i, o := range objects {
		if i > 0 {
			out.WriteString("---\n")
		}
		content, err := text(o)
		if err != nil {
			return nil, err
		}
		out.Write(content)
	}
	return out.Bytes(), nil
}
