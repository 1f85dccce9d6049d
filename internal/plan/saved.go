// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"os"
)

// Save writes a plan to a file that others cannot read.
func (p Plan) Save(path string) error {
	data, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("save the plan: %w", err)
	}
	return nil
}

// Load reads a saved plan.
func Load(path string) (p Plan, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return p, fmt.Errorf("read the plan: %w", err)
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("%s is not a plan of butleradm plan --out: %w", path, err)
	}
	if p.Format != Format {
		return p, fmt.Errorf("%s is not a plan of this version of butleradm: its format is %d, not %d; plan again", path, p.Format, Format)
	}
	return p, nil
}

// outcome is the part of a plan that reality has to match.
type outcome struct {
	Cluster        string    `json:"cluster"`
	Kind           string    `json:"kind"`
	Provider       string    `json:"provider"`
	ProviderConfig string    `json:"providerConfig"`
	Manifest       string    `json:"manifest"`
	Action         Action    `json:"action"`
	Create         *Creation `json:"create"`
	Changes        []Change  `json:"changes"`
}

func outcomeOf(p Plan) outcome {
	return outcome{p.Cluster, p.Kind, string(p.Provider), p.ProviderConfig, p.Manifest, p.Action, p.Create, p.Changes}
}

// Deviations returns how a plan differs from a saved one: in what is created or changed, and
// in checks that have become worse. Times, prices and evidence may differ.
func (p Plan) Deviations(saved Plan) (out []string, err error) {
	found, err := differences(outcomeOf(saved), outcomeOf(p))
	if err != nil {
		return nil, err
	}
	for _, d := range found {
		out = append(out, fmt.Sprintf("%s was %s and is %s", d.path, orNone(d.from), orNone(d.to)))
	}
	before := map[string]Result{}
	for _, c := range saved.Checks {
		before[c.Name] = c.Result
	}
	for _, c := range p.Checks {
		if was, known := before[c.Name]; known && rank(c.Result) > rank(was) {
			out = append(out, fmt.Sprintf("check %s was %s and is %s: %s", c.Name, was, c.Result, c.Evidence))
		}
	}
	return out, nil
}

func orNone(text string) string {
	if text == "" {
		return "absent"
	}
	return text
}

// rank orders results from good to bad.
func rank(r Result) int { return map[Result]int{Passed: 0, Unknown: 1, Refused: 2}[r] }
