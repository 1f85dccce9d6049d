// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package simtest

import (
	"encoding/json"
	"testing"

	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/provider/providertest"
)

// TestEveryFaultOfTheSuiteIsAFaultThatPlansAccept: a field that its kind does not take
// would have no effect.
func TestEveryFaultOfTheSuiteIsAFaultThatPlansAccept(t *testing.T) {
	for _, f := range providertest.Faults() {
		if f == providertest.Drained {
			continue // the platform's own
		}
		one, known := planned(f)
		if !known {
			t.Errorf("%q has no fault of the simulator", f)
			continue
		}
		data, err := json.Marshal(fault.Plan{Faults: []fault.Fault{one}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fault.Parse(data); err != nil {
			t.Errorf("%q: %v", f, err)
		}
	}
}
