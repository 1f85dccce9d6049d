// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// record is a run as JSON.
type record struct {
	Time    time.Time        `json:"time"`
	Commit  string           `json:"commit"`
	Machine machine          `json:"machine"`
	Values  map[string]taken `json:"values"`
}

// taken is the value of a measure.
type taken struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// Speed is that of the machine at the time, see calibrate.
	Speed float64 `json:"speed"`
	// Target is what is aimed at, if anything.
	Target float64 `json:"target,omitempty"`
	// Ratio compares with the committed run; more than 1 is worse.
	Ratio float64 `json:"ratio,omitempty"`
}

// readRecord returns an empty record where there is no file.
func readRecord(path string) (record, error) {
	r := record{Values: map[string]taken{}}
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("read %s: %w", path, err)
	}
	return r, nil
}

func (r record) write(path string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

// merged is the record with the values of a later one, which need not have all of them.
func (r record) merged(later record) record {
	out := later
	out.Values = map[string]taken{}
	for _, one := range []record{r, later} {
		for name, v := range one.Values {
			v.Ratio = 0
			out.Values[name] = v
		}
	}
	return out
}
