// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// view is an addon as a golden file has it.
type view struct {
	Addon       string           `json:"addon"`
	Version     string           `json:"version,omitempty"`
	Source      string           `json:"source"`
	WithoutCRDs []string         `json:"withoutCRDs,omitempty"`
	Release     string           `json:"release,omitempty"`
	Namespace   string           `json:"namespace,omitempty"`
	PodSecurity PodSecurity      `json:"podSecurity,omitempty"`
	Beside      []string         `json:"beside,omitempty"`
	Needs       []string         `json:"needs,omitempty"`
	Values      map[string]any   `json:"values,omitempty"`
	Objects     []map[string]any `json:"objects,omitempty"`
	Secret      *secretView      `json:"secret,omitempty"`
	Providers   []providerView   `json:"providers,omitempty"`
	Ready       []string         `json:"ready,omitempty"`
}

type secretView struct {
	Name    string            `json:"name"`
	Copy    []string          `json:"copy,omitempty"`
	Key     string            `json:"key,omitempty"`
	Fields  map[string]any    `json:"fields,omitempty"`
	Fill    map[string]string `json:"fill,omitempty"`
	Profile string            `json:"profile,omitempty"`
}

type providerView struct {
	Provider    string                    `json:"provider"`
	URL         string                    `json:"url"`
	Namespace   string                    `json:"namespace"`
	Variables   []string                  `json:"variables,omitempty"`
	Credentials *v1alpha1.SecretReference `json:"credentials,omitempty"`
}

func viewOf(a Addon) view {
	v := view{
		Addon: a.Key, Version: a.Version, Release: a.Release, Needs: a.Needs, Values: a.Values,
		Source:      strings.Join(slices.DeleteFunc([]string{string(a.Source.Kind), a.Source.URL, a.Source.Chart}, func(s string) bool { return s == "" }), " "),
		WithoutCRDs: a.Source.WithoutCRDs, Namespace: a.Namespace.Name, PodSecurity: a.Namespace.PodSecurity,
	}
	for _, n := range a.Beside {
		v.Beside = append(v.Beside, n.Name+" "+string(n.PodSecurity))
	}
	for _, o := range a.Objects {
		v.Objects = append(v.Objects, o.Object)
	}
	if s := a.Secret; s != nil {
		v.Secret = &secretView{s.Namespace + "/" + s.Name, s.Copy, s.Key, s.Fields, s.Fill, s.Profile}
	}
	for _, p := range a.Providers {
		v.Providers = append(v.Providers, viewOfProvider(p))
	}
	for _, name := range a.Ready.CRDs {
		v.Ready = append(v.Ready, "CustomResourceDefinition "+name)
	}
	for _, r := range slices.Concat(a.Ready.Workloads, a.Ready.Webhooks, a.Ready.Exist) {
		v.Ready = append(v.Ready, r.Kind+" "+strings.TrimPrefix(r.Namespace+"/"+r.Name, "/"))
	}
	return v
}

func viewOfProvider(p Provider) providerView {
	v := providerView{Provider: string(p.Kind) + " " + p.Name, URL: p.URL(), Namespace: p.Namespace, Credentials: p.Credentials}
	for _, variable := range p.Variables {
		name := variable.Name
		if variable.Required {
			name += " (required)"
		}
		v.Variables = append(v.Variables, name)
	}
	return v
}

func dump(t *testing.T, addons []Addon) string {
	t.Helper()
	var views []view
	for _, a := range addons {
		views = append(views, viewOf(a))
	}
	out, err := yaml.Marshal(views)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestAddonsGolden(t *testing.T) {
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			got := dump(t, resolve(t, s.spec, s.facts))
			path := filepath.Join("testdata", s.name+".yaml")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got; -update rewrites it):\n%s", path, diff)
			}
		})
	}
}

func TestDefaultsWrittenOutAreTheDefaults(t *testing.T) {
	written := fullExample()
	written.Cluster.Workers.ExtraDisks = nil
	a := dump(t, resolve(t, written, facts("10.40.0.200")))
	b := dump(t, resolve(t, onPrem(written.Provider), facts("10.40.0.200")))
	if diff := cmp.Diff(a, b); diff != "" {
		t.Error(diff)
	}
}
