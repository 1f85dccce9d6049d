// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package crd_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

func TestColumnsAreThoseOfTheDocumentation(t *testing.T) {
	w := newFixture(t)
	for _, o := range read(t, "columns/objects.yaml") {
		w.apply(o)
	}
	for _, d := range definitions(t) {
		plural := d.Spec.Names.Plural
		path := "/apis/butler.butlerlabs.dev/v1alpha1/namespaces/" + w.namespace + "/" + plural
		if d.Spec.Scope == apiextensionsv1.ClusterScoped {
			path = "/apis/butler.butlerlabs.dev/v1alpha1/" + plural
		}
		want, err := os.ReadFile(filepath.Join("testdata", "columns", plural+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(withoutAge(strings.Split(strings.TrimSpace(string(want)), "\n")), withoutAge(table(t, path))); diff != "" {
			t.Errorf("%s: %s", plural, diff)
		}
	}
}

func TestShortNames(t *testing.T) {
	var served metav1.APIResourceList
	fetch(t, "/apis/butler.butlerlabs.dev/v1alpha1", "application/json", &served)
	got := map[string][]string{}
	for _, r := range served.APIResources {
		if !strings.Contains(r.Name, "/") {
			got[r.Name] = r.ShortNames
		}
	}
	want := map[string][]string{
		"addressclaims": {"ac"}, "ipallocations": {"ipa"}, "networkpools": {"np"},
		"butlerconfigs": {"bc"}, "clusterbootstraps": {"cb"}, "loadbalancerrequests": {"lbr"},
		"machinerequests": {"mr"}, "providerconfigs": {"pc", "pcfg"}, "teams": {"tm"}, "tenantclusters": {"tc"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// withoutAge cuts the last column, which no two runs share, but for its header.
func withoutAge(lines []string) [][]string {
	rows := make([][]string, 0, len(lines))
	for i, line := range lines {
		fields := strings.Fields(line)
		if i > 0 {
			fields = fields[:len(fields)-1]
		}
		rows = append(rows, fields)
	}
	return rows
}

// table is what kubectl get prints without -o: the columns of priority 0.
func table(t *testing.T, path string) []string {
	t.Helper()
	var got metav1.Table
	fetch(t, path, "application/json;as=Table;v=v1;g=meta.k8s.io", &got)
	var header []string
	for _, c := range got.ColumnDefinitions {
		if c.Priority == 0 {
			header = append(header, strings.ToUpper(c.Name))
		}
	}
	lines := []string{strings.Join(header, " ")}
	for _, row := range got.Rows {
		var cells []string
		for i, c := range row.Cells {
			if got.ColumnDefinitions[i].Priority == 0 {
				cells = append(cells, fmt.Sprint(c))
			}
		}
		lines = append(lines, strings.Join(cells, " "))
	}
	return lines
}

func fetch(t *testing.T, path, accept string, into any) {
	t.Helper()
	c, err := rest.HTTPClientFor(api)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimSuffix(api.Host, "/")+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", accept)
	response, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", path, body, err)
	}
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatal(err)
	}
}
