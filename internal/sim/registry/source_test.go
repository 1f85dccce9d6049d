// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/addon/source"
	"github.com/butlerdotdev/butler/internal/sim/registry"
)

func upstream(t *testing.T, w *fixture) *source.Source {
	t.Helper()
	s, err := source.New(source.Options{HTTP: w.Client, StandIns: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// required has something for each variable without a default.
func required(p addon.Provider) (map[string]string, error) {
	out := map[string]string{}
	for _, v := range p.Variables {
		if v.Required {
			out[v.Name] = "c29tZXRoaW5n"
		}
	}
	return out, nil
}

// TestAddonsAreFetchedAsFromUpstream: what fetches the real charts, manifests and
// components takes the stand-ins for them.
func TestAddonsAreFetchedAsFromUpstream(t *testing.T) {
	w := start(t, registry.Options{Artifacts: catalogue(t)})
	from := upstream(t, w)
	specs := scenarios()
	specs["newer"], specs["ipv6"] = newer(), ipv6()
	for name, s := range specs {
		t.Run(name, func(t *testing.T) {
			for _, a := range addons(t, s) {
				got, err := from.Fetch(t.Context(), a, required)
				if err != nil {
					t.Errorf("%s: %v", a.Key, err)
					continue
				}
				if !strings.HasPrefix(got.Digest, "sha256:") || (got.Chart == nil) == (len(got.Objects) == 0) {
					t.Errorf("%s: digest %q, %d objects", a.Key, got.Digest, len(got.Objects))
				}
				if there := located(got.Objects, ""); got.Chart == nil {
					for _, want := range wanted(a) {
						if there[want] == nil {
							t.Errorf("%s: no %s", a.Key, want)
						}
					}
				}
			}
		})
	}
}

// TestWhatIsWithheldCannotBeFetched: the user reads what the far side said.
func TestWhatIsWithheldCannotBeFetched(t *testing.T) {
	w := start(t, registry.Options{Artifacts: catalogue(t), Faults: injector(t, "{kind: chartUnavailable}")})
	from := upstream(t, w)
	for _, a := range addons(t, scenarios()["gateway"]) {
		_, err := from.Fetch(t.Context(), a, required)
		if err == nil || !strings.Contains(err.Error(), "503 Service Unavailable") {
			t.Errorf("%s: %v", a.Key, err)
		}
	}
}
