// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const monitoring = "butler-monitoring"

// alert is a rule of Prometheus.
type alert struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

func alerts(t *testing.T) []alert {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(monitoring, "files", "rules.yaml"))
	must(t, err)
	var file struct {
		Groups []struct {
			Name  string
			Rules []alert
		}
	}
	must(t, yaml.UnmarshalStrict(data, &file, yaml.DisallowUnknownFields))
	if len(file.Groups) != 1 || len(file.Groups[0].Rules) == 0 {
		t.Fatal("there are no rules")
	}
	return file.Groups[0].Rules
}

func TestEveryAlertHasARunbookAndEveryRunbookAnAlert(t *testing.T) {
	var named []string
	page, err := os.ReadFile(filepath.Join(monitoring, "README.md"))
	must(t, err)
	for _, a := range alerts(t) {
		named = append(named, a.Alert+".md")
		if want := "/docs/runbooks/" + a.Alert + ".md"; !strings.HasSuffix(a.Annotations["runbook_url"], want) {
			t.Errorf("%s: runbook_url is %q", a.Alert, a.Annotations["runbook_url"])
		}
		if a.Annotations["summary"] == "" || a.Annotations["description"] == "" || a.For == "" {
			t.Errorf("%s lacks a text, or how long it takes", a.Alert)
		}
		if row := fmt.Sprintf("| [%s](../../docs/runbooks/%s.md) | %s |", a.Alert, a.Alert, a.Labels["severity"]); !strings.Contains(string(page), row) {
			t.Errorf("the page of the chart has no row %q", row)
		}
	}
	pages := slices.Collect(maps.Keys(tree(t, "../docs/runbooks")))
	for i := range pages {
		pages[i] = strings.TrimPrefix(pages[i], "/")
	}
	slices.Sort(named)
	slices.Sort(pages)
	if diff := cmp.Diff(named, pages); diff != "" {
		t.Error(diff)
	}
}

func TestQueriesUseMetricsAndLabelsThatExist(t *testing.T) {
	queries := map[string]string{}
	for _, a := range alerts(t) {
		queries[a.Alert] = a.Expr
	}
	maps.Copy(queries, panels(t))
	known := documented(t)
	known["up"] = true
	metric := regexp.MustCompile(`\b([a-z_]+?)(_bucket|_sum|_count)?(?:\{|\[|\)| ==|$)`)
	found := 0
	for name, expr := range queries {
		for _, m := range metric.FindAllStringSubmatch(grouping.ReplaceAllString(expr, ""), -1) {
			found++
			if !known[m[1]] {
				t.Errorf("%s: there is no metric %s", name, m[1]+m[2])
			}
		}
	}
	if found < len(queries) {
		t.Errorf("only %d metrics in %d queries", found, len(queries))
	}
}

// grouping is the part of a query that names labels.
var grouping = regexp.MustCompile(`by \([^)]*\)`)

// documented are the metrics of the page, which another test compares with the code.
func documented(t *testing.T) map[string]bool {
	t.Helper()
	page, err := os.ReadFile("../docs/reference/metrics.md")
	must(t, err)
	found := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		found[m[1]] = true
	}
	return found
}

// panels are the queries of the dashboard, by title.
func panels(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(monitoring, "files", "dashboard.json"))
	must(t, err)
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	must(t, json.Unmarshal(data, &board))
	all := map[string]string{}
	for _, p := range board.Panels {
		for i, target := range p.Targets {
			all[fmt.Sprintf("panel %q, query %d", p.Title, i)] = target.Expr
		}
	}
	return all
}

func TestMonitoringFollowsItsValues(t *testing.T) {
	both := []string{"PodMonitor " + monitoring, "PrometheusRule " + monitoring}
	board := "ConfigMap " + monitoring + "-dashboard"
	for name, test := range map[string]struct {
		values string
		want   []string
	}{
		"without the operator": {"{}", []string{board}},
		"always":               {"prometheusOperator: always", append([]string{board}, both...)},
		"rules alone":          {"{prometheusOperator: always, dashboard: {enabled: false}}", both},
		"nothing":              {"{prometheusOperator: never, dashboard: {enabled: false}}", nil},
	} {
		var values map[string]any
		must(t, yaml.Unmarshal([]byte(test.values), &values))
		got, err := render(load(t, monitoring), values)
		must(t, err)
		if diff := cmp.Diff(test.want, kinds(got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	labelled := text(t, objects(t, monitoring, map[string]any{
		"prometheusOperator": "always", "labels": map[string]any{"release": "own"}, "dashboard": map[string]any{"labels": map[string]any{"grafana": "own"}},
	}))
	if strings.Count(labelled, "release: own") != 2 || !strings.Contains(labelled, "grafana: own") {
		t.Errorf("labels are missing:\n%s", labelled)
	}
}
