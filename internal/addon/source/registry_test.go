// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/internal/addon"
)

const stewardAt = "ghcr.io/butlerdotdev/charts/steward"

func (w *fixture) pushChart(t *testing.T, repository, tag, name, version string) []byte {
	t.Helper()
	data := chartArchive(t, name, version)
	w.push(t, repository, tag, layer{"application/vnd.cncf.helm.chart.provenance.v1.prov", "", "signature"}, layer{chartLayer, "", string(data)})
	return data
}

func TestAChartComesFromARegistry(t *testing.T) {
	for name, tt := range map[string]struct{ wanted, tag, version string }{
		"as it is":                      {"0.4.0", "0.4.0", "0.4.0"},
		"a plus is no part of a tag":    {"0.4.0+build.1", "0.4.0_build.1", "0.4.0+build.1"},
		"the tag has a v":               {"0.4.0", "v0.4.0", "v0.4.0"},
		"the wanted version has a v":    {"v0.4.0", "0.4.0", "0.4.0"},
		"the chart alone has no v":      {"v0.4.0", "v0.4.0", "0.4.0"},
		"a layer of an older Helm":      {"0.4.0", "0.4.0", "0.4.0"},
		"redirected to where files are": {"0.4.0", "0.4.0", "0.4.0"},
	} {
		t.Run(name, func(t *testing.T) {
			w, a := newFixture(t), steward()
			a.Version = tt.wanted
			data := w.pushChart(t, stewardAt, tt.tag, "steward", tt.version)
			if strings.Contains(name, "older") {
				w.push(t, stewardAt, tt.tag, layer{legacyChartLayer, "", string(data)})
			}
			if strings.Contains(name, "redirected") {
				w.answers["https://ghcr.io/v2/butlerdotdev/charts/steward/blobs/"+digest(data)] = moved("https://elsewhere.example.com/blob")
				w.files["https://elsewhere.example.com/blob"] = data
			}
			c := fetched(t, w.source(t, ""), a, nil)
			if c.Chart.Metadata.Version != tt.version || c.Digest != digest(data) || c.Origin != "oci://"+stewardAt+":"+tt.tag {
				t.Errorf("%s, %s from %s", c.Chart.Metadata.Version, c.Digest, c.Origin)
			}
		})
	}
}

func TestWhatARegistryLacksOrBreaks(t *testing.T) {
	const manifest = "https://ghcr.io/v2/butlerdotdev/charts/steward/manifests/0.4.0"
	for name, tt := range map[string]struct {
		spoil func(*testing.T, *fixture, *addon.Addon)
		want  string
	}{
		"no such version": {
			func(_ *testing.T, _ *fixture, a *addon.Addon) { a.Version = "0.9.0" },
			"chart steward 0.9.0 is not at oci://ghcr.io/butlerdotdev/charts/steward: the nearest that it has: 0.4.0; set one of them",
		},
		"no such repository": {
			func(_ *testing.T, _ *fixture, a *addon.Addon) { a.Source.URL = "oci://ghcr.io/absent/steward" },
			"chart steward 0.4.0 is not at oci://ghcr.io/absent/steward: set another version, or",
		},
		"not for everybody": {
			func(_ *testing.T, w *fixture, _ *addon.Addon) {
				w.answers["https://ghcr.io/v2/token"] = status(http.StatusForbidden)
			},
			"cannot be fetched from oci://ghcr.io/butlerdotdev/charts/steward: it answered 403 Forbidden; " + redirectHint,
		},
		"a password is wanted": {
			func(_ *testing.T, w *fixture, _ *addon.Addon) {
				w.answers[manifest] = func(rw http.ResponseWriter, _ *http.Request) {
					rw.Header().Set("WWW-Authenticate", "Basic realm=x")
					rw.WriteHeader(http.StatusUnauthorized)
				}
			},
			"it requires credentials, and addons are fetched without a login; " + redirectHint,
		},
		"down": {
			func(_ *testing.T, w *fixture, _ *addon.Addon) {
				w.answers[manifest] = status(http.StatusServiceUnavailable)
			},
			"cannot be fetched from oci://ghcr.io/butlerdotdev/charts/steward: it answered 503 Service Unavailable; " + redirectHint,
		},
		"a description without end": {
			func(_ *testing.T, w *fixture, _ *addon.Addon) {
				w.answers[manifest] = func(rw http.ResponseWriter, _ *http.Request) {
					rw.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
					rw.Header().Set("Docker-Content-Digest", "sha256:"+strings.Repeat("0a", 32))
					rw.Header().Set("Content-Length", "1099511627776")
					rw.WriteHeader(http.StatusOK)
				}
			},
			"it is larger than 4 MiB",
		},
		"an image": {
			func(t *testing.T, w *fixture, _ *addon.Addon) {
				w.push(t, stewardAt, "0.4.0", layer{"application/vnd.oci.image.layer.v1.tar+gzip", "", "x"})
			},
			"cannot be fetched from oci://ghcr.io/butlerdotdev/charts/steward:0.4.0: the artifact under this name is not a chart; " + redirectHint,
		},
		"changed": {
			func(_ *testing.T, w *fixture, _ *addon.Addon) {
				for sum, data := range w.blobs {
					w.blobs[sum] = append([]byte("x"), data[1:]...)
				}
			},
			"mismatch",
		},
		"another chart": {
			func(t *testing.T, w *fixture, _ *addon.Addon) { w.pushChart(t, stewardAt, "0.4.0", "kamaji", "0.4.0") },
			"chart steward 0.4.0 is required, but oci://ghcr.io/butlerdotdev/charts/steward:0.4.0 has chart kamaji 0.4.0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, a := newFixture(t), steward()
			w.pushChart(t, stewardAt, "0.4.0", "steward", "0.4.0")
			tt.spoil(t, w, &a)
			err := refusal(t, w.source(t, ""), a, nil)
			if !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "4711") {
				t.Errorf("error is\n%v\nwithout\n%s", err, tt.want)
			}
		})
	}
}

func TestARegistryHasEverything(t *testing.T) {
	w := newFixture(t)
	const base = "registry.example.com/air/gap"
	chart := w.pushChart(t, base+"/cilium", "1.17.0", "cilium", "1.17.0")
	w.push(t, base+"/gateway-api", "v1.2.1", layer{"application/yaml", "install.yaml", gatewayFile})
	a, r := capi(t), releaseFiles{}
	for _, p := range a.Providers {
		w.push(t, base+"/"+label(p), p.Version, layer{"application/yaml", p.File, r.components(p)}, layer{"application/yaml", metadataFile, r.metadata(p)})
	}
	s := w.source(t, "oci://"+base+"/")
	if c := fetched(t, s, cilium(), nil); c.Digest != digest(chart) || c.Origin != "oci://"+base+"/cilium:1.17.0" {
		t.Errorf("%s from %s", c.Digest, c.Origin)
	}
	if c := fetched(t, s, gateway(), nil); len(c.Objects) != 3 {
		t.Errorf("%d objects", len(c.Objects))
	}
	if c := fetched(t, s, a, given); len(c.Objects) == 0 || !strings.Contains(c.Origin, "oci://"+base+"/infrastructure-nutanix:v1.5.3") {
		t.Errorf("%d objects from %s", len(c.Objects), c.Origin)
	}
	w.push(t, base+"/gateway-api", "v1.2.1", layer{"x", "a", "a"}, layer{"x", "b", "b"})
	if err := refusal(t, s, gateway(), nil); !strings.Contains(err.Error(), "one file") {
		t.Error(err)
	}
	w.push(t, base+"/cluster-api", "v1.9.4", layer{"x", "core-components.yaml", r.components(a.Providers[0])})
	var missing *Absent
	if err := refusal(t, s, a, given); !errors.As(err, &missing) || missing.What != "metadata.yaml of cluster-api v1.9.4" {
		t.Error(err)
	}
}

// TestOnlyARegistryIsThereForOthersToo: a directory is this machine's own, and
// upstream is the default.
func TestOnlyARegistryIsThereForOthersToo(t *testing.T) {
	const registry = "oci://registry.example.com/charts"
	for where, want := range map[string]string{"": "", Upstream: "", t.TempDir(): "", registry: registry} {
		s, err := New(Options{Charts: where})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Registry(); got != want {
			t.Errorf("from %q: %q", where, got)
		}
	}
}
