// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/internal/sim/gcp/model"
)

func TestFind(t *testing.T) {
	m := model.Load()
	for path, want := range map[string]string{
		"GET projects/p/zones/z/instances/i": "instances.get", "POST projects/p/zones/z/instances": "instances.insert", "GET projects/p/aggregated/instances": "instances.aggregatedList",
		"GET projects/p/global/images/family/f": "images.getFromFamily", "GET projects/p": "projects.get", "POST projects/p/regions/r/backendServices/b/getHealth": "regionBackendServices.getHealth",
		"GET projects/p/zones/z/things": "", "PUT projects/p/zones/z/instances/i": "", "GET projects/p/zones//instances": "",
	} {
		verb, rest, _ := strings.Cut(path, " ")
		if got, _, _ := m.Find(verb, rest); got.Name != want {
			t.Errorf("%s: %q, want %q", path, got.Name, want)
		}
	}
}

func TestRead(t *testing.T) {
	m := model.Load()
	for name, c := range map[string]struct {
		body string
		want string // kind and path of the problem
	}{
		"good":              {`{"name": "x", "disks": [{"boot": true, "diskSizeGb": 10}], "labels": {"a": "b"}, "description": null}`, ""},
		"unknown":           {`{"nome": "x"}`, "unknown resource"},
		"unknown inside":    {`{"disks": [{}, {"x": 1}]}`, "unknown resource.disks[1]"},
		"no list":           {`{"disks": {}}`, "malformed resource.disks"},
		"no object":         {`{"metadata": []}`, "malformed resource.metadata"},
		"no number":         {`{"disks": [{"diskSizeGb": "ten"}]}`, "malformed resource.disks[0].diskSizeGb"},
		"no truth":          {`{"canIpForward": 1}`, "malformed resource.canIpForward"},
		"a number for text": {`{"name": 1}`, "malformed resource.name"},
		"no bytes":          {`{"fingerprint": "?"}`, "malformed resource.fingerprint"},
		"pattern":           {`{"name": "Upper"}`, "pattern resource.name"},
		"enum":              {`{"networkInterfaces": [{"nicType": "FAST"}]}`, "enum resource.networkInterfaces[0].nicType"},
		"inline":            {`{"metadata": {"items": [{"k": "v"}]}}`, "unknown resource.metadata.items[0]"},
	} {
		_, p := m.Read("Instance", decoded(t, c.body))
		got := ""
		if p != nil {
			got = string(p.Kind) + " " + p.Path
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func decoded(t *testing.T, text string) (out map[string]any) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestNumbersAreKeptAsTheAPIShowsThem has numbers as numbers and as text.
func TestNumbersAreKeptAsTheAPIShowsThem(t *testing.T) {
	got, p := model.Load().Read("HealthCheck", decoded(t, `{"checkIntervalSec": "5", "id": 7, "kind": "x", "tcpHealthCheck": {"port": 80}}`))
	want := map[string]any{"checkIntervalSec": 5.0, "id": "7", "tcpHealthCheck": map[string]any{"port": 80.0}}
	if diff := cmp.Diff(want, got); p != nil || diff != "" {
		t.Errorf("%+v %s", p, diff)
	}
}

func TestCheckParams(t *testing.T) {
	m := model.Load()
	list, path, _ := m.Find("GET", "projects/p/zones/z/instances")
	for query, want := range map[string]string{
		"maxResults=1&filter=a&prettyPrint=true": "", "maxResults=x": "malformed maxResults", "limit=1": "unknown limit", "project=q": "unknown project", "returnPartialSuccess=yes": "malformed returnPartialSuccess",
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if p := m.CheckParams(list, path, values); p != nil {
			got = string(p.Kind) + " " + p.Path
		}
		if got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}
