// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package history records how long the phases of bootstraps took on this machine, and
// estimates from that how long the next one takes.
package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// file has a run per line.
const file = "runs.jsonl"

// Run is a bootstrap that went from its beginning to Ready without an interruption.
type Run struct {
	Ended time.Time `json:"ended"`
	// Version of butleradm.
	Version string `json:"version"`
	Kind
	// Machines and Addons are how many the cluster has.
	Machines int     `json:"machines"`
	Addons   int     `json:"addons"`
	Phases   []Phase `json:"phases"`
}

// Kind is what runs have in common that can be compared.
type Kind struct {
	Provider v1alpha1.ProviderType `json:"provider"`
	Topology v1alpha1.Topology     `json:"topology"`
	// Profile is that of the simulated platform; empty for a real one.
	Profile string `json:"profile,omitempty"`
}

// Phase is a phase and how long it took.
type Phase struct {
	Name    v1alpha1.ClusterBootstrapPhase `json:"name"`
	Seconds float64                        `json:"seconds"`
}

// Append adds a run to the record in a directory, which has to exist.
func Append(dir string, r Run) (err error) {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("record the run: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.Write(append(line, '\n'))
	return err
}

// Load returns the recorded runs, the oldest first. A line that cannot be read is left out:
// a process that was killed may have written half of one.
func Load(dir string) (out []Run, err error) {
	f, err := os.Open(filepath.Join(dir, file))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the recorded runs: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var r Run
		if json.Unmarshal(lines.Bytes(), &r) == nil {
			out = append(out, r)
		}
	}
	return out, lines.Err()
}
