// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providerbinary

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/facade"
)

// Poll returns the channel of Suite.Running for a platform that reports no changes. It calls
// list again and again until the test ends; list returns the names of the machines that run,
// by their IDs.
func Poll(t testing.TB, list func(context.Context) (map[string]string, error)) <-chan string {
	t.Helper()
	names := make(chan string)
	go func() {
		defer close(names)
		known := map[string]bool{}
		for tick := time.Tick(50 * time.Millisecond); t.Context().Err() == nil; <-tick {
			running, err := list(t.Context())
			if err != nil && t.Context().Err() == nil {
				t.Error(err)
			}
			for id, name := range running {
				if !known[id] {
					known[id] = true
					names <- name
				}
			}
		}
	}()
	return names
}

// ReadUser reads user.json of a simulated platform, and the certificates of its authority.
// The file has the user's own address, where calls are counted.
func ReadUser(t testing.TB, api facade.API, into any) (ca []byte) {
	t.Helper()
	return ReadAccess(t, filepath.Join(filepath.Dir(api.Admin()), "user.json"), into)
}

// ReadAccess reads such a file of any account.
func ReadAccess(t testing.TB, file string, into any) (ca []byte) {
	t.Helper()
	raw, err := os.ReadFile(file)
	Must(t, err)
	Must(t, json.Unmarshal(raw, into))
	var authority struct {
		File  string `json:"caBundle"`
		Other string `json:"ca_bundle"`
	}
	Must(t, json.Unmarshal(raw, &authority))
	ca, err = os.ReadFile(authority.File + authority.Other)
	Must(t, err)
	return ca
}

// Must ends a test that has failed.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
