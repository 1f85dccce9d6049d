// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
)

// documented reads the first object of a kind from the YAML blocks of a page.
func documented(t testing.TB, page string, into client.Object) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	must(t, err)
	kind := reflect.TypeOf(into).Elem().Name()
	for _, block := range strings.Split(string(text), "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		if strings.Contains(block, "kind: "+kind+"\n") {
			must(t, yaml.UnmarshalStrict([]byte(block), into))
			return
		}
	}
	t.Fatalf("%s has no %s", page, kind)
}

// TestTheManifestsOfTheGuidesAreAccepted asks the API server, which checks every
// rule of the kinds.
func TestTheManifestsOfTheGuidesAreAccepted(t *testing.T) {
	log.SetLogger(logr.Discard())
	c := cluster(t, planetest.Start(t, plane.Options{AdmissionOff: []string{"ServiceAccount"}}))
	for _, page := range []string{"getting-started/harvester.md", "concepts/providers.md", "contributing/try-a-provider.md"} {
		config := &v1alpha1.ProviderConfig{}
		documented(t, page, config)
		if err := c.Create(t.Context(), config, client.DryRunAll); err != nil {
			t.Errorf("%s: %v", page, err)
		}
	}
}
