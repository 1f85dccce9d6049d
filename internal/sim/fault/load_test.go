// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package fault_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

func TestEverythingWrongIsReportedAtOnce(t *testing.T) {
	_, err := fault.Parse([]byte(`
faults:
- kind: thunder
- kind: throttle
  machines: mgmt-cp-0
  for: soon
  times: many
- kind: noCapacity
  verb: create
  times: 0
- kind: slowList
- kind: failedTask
  verb: list
  machine: "["
- kind: conflictingMachine
  machine: mgmt-*
- kind: deny
  resource: vm
  after: -1s
  for: 0s
- kind: hookFails
  addon: "["
  times: 2
- kind: deny
  addon: cilium
- kind: addonNotReady
  machine: mgmt-cp-0
- kind: staleList
  for: 5m
- kind: apiServerDies
  times: 1
- kind: conflictingHost
  address: 10.40.0
- kind: conflictingHost
`))
	if err == nil {
		t.Fatal("accepted")
	}
	for _, part := range []string{
		`faults[0].kind: there is no "thunder"; take one of addonNotReady, apiServerDies, chartUnavailable, `,
		`faults[1].machines is unknown; there are addon, address, after, delay`,
		`faults[1].for: "soon" is not a time such as "30s"`,
		`faults[1].times: "many" is not a whole number`,
		`faults[2].verb has no effect on noCapacity, which takes machine, after, for; remove it`,
		`faults[2].times: 0 is not a number of times`,
		`faults[3].delay is missing: slowList needs it`,
		`faults[4].verb: failedTask knows no "list"; take one of create, delete`,
		`faults[4].machine: "[" is not a pattern`,
		`faults[5].machine: "mgmt-*" is a pattern; a conflicting machine has one name`,
		`faults[6].resource: there is no "vm"; take one of machine, disk`,
		`faults[6].after: -1s is not a time that can pass`,
		`faults[6].for: 0s is not a time that can pass`,
		`faults[7].addon: "[" is not a pattern`,
		`faults[7].times has no effect on hookFails, which takes addon, after, for; remove it`,
		`faults[8].addon has no effect on deny`,
		`faults[9].machine has no effect on addonNotReady, which takes addon, after, for; remove it`,
		`faults[10].for: states older than 4m0s cannot be read`,
		`faults[11].times has no effect on apiServerDies, which takes machine, after, for; remove it`,
		`faults[11].for is missing: apiServerDies needs it`,
		`faults[12].address: "10.40.0" is not an IP address`,
		`faults[13].address is missing: conflictingHost needs it`,
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("missing: %s", part)
		}
	}
	if t.Failed() {
		t.Log(err)
	}
}

func TestWhatIsNoPlanIsRefused(t *testing.T) {
	for name, file := range map[string]string{
		"nothing":       "",
		"no fault":      "faults: []",
		"no list":       "faults: {kind: deny}",
		"other key":     "fault: [{kind: deny}]",
		"a list":        "- kind: deny",
		"twice one key": "faults: [{kind: deny, kind: deny}]",
		"no kind":       "faults: [{verb: get}]",
		"no YAML":       "faults: [",
	} {
		t.Run(name, func(t *testing.T) {
			if p, err := fault.Parse([]byte(file)); err == nil {
				t.Errorf("accepted as %+v", p)
			}
		})
	}
}

func TestUnreadableFileIsNamed(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "faults.yaml")
	if _, err := fault.Load(missing); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(missing, []byte("faults: [{kind: rain}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := fault.Load(missing); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("got %v", err)
	}
}

// TestReference loads the example of the reference, which shows each kind.
func TestReference(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the page has no example")
	}
	p, err := fault.Parse([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	shown := map[fault.Kind]bool{}
	for _, f := range p.Faults {
		shown[f.Kind] = true
	}
	for _, kind := range fault.Kinds() {
		if !shown[kind] || !strings.Contains(string(page), "| `"+string(kind)+"` |") {
			t.Errorf("%s is not shown", kind)
		}
	}
}

// TestPlanIsKept: a simulator that is started again gets its plan as JSON.
func TestPlanIsKept(t *testing.T) {
	p, err := fault.Parse([]byte("faults: [{kind: throttle, verb: get, after: 1m, for: 90s, times: 3, retryAfter: 2s}, {kind: slowList, delay: 1s}, {kind: chartUnavailable, addon: cilium}]"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var again fault.Plan
	if err := json.Unmarshal(data, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, again); diff != "" {
		t.Error(diff)
	}
}
