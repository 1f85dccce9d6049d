// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// record is what has to outlive a restart, all of it by cluster id.
type record struct {
	// Writers in the order in which they wrote first: the last one may continue.
	Writers map[string][]string `json:"writers"`
	// Bootstraps of etcd, each with the machine that it was on.
	Bootstraps map[string][]bootstrap `json:"bootstraps"`
}

type bootstrap struct {
	Member  string `json:"member"`
	Machine string `json:"machine"`
}

func recordPath(dir string) string { return filepath.Join(dir, "audit.json") }

func (r *record) load(dir string) error {
	*r = record{Writers: map[string][]string{}, Bootstraps: map[string][]bootstrap{}}
	data, err := os.ReadFile(recordPath(dir))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, r)
	}
	if err != nil {
		return fmt.Errorf("find out what was audited before: %w", err)
	}
	return nil
}

// save replaces the file at once: a process that is killed leaves the old one or the new.
func (r *record) save(dir string) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	next := recordPath(dir) + ".new"
	if err := os.WriteFile(next, data, 0o600); err != nil {
		return err
	}
	return os.Rename(next, recordPath(dir))
}

// keep saves the record. It is called under lock.
func (a *Auditor) keep() {
	if err := a.kept.save(a.options.Dir); err != nil {
		a.options.Log.Error("the record of the audit cannot be kept", "err", err)
	}
}
