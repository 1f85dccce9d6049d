// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRunAllNamesTheProgramThatEnded(t *testing.T) {
	err := runAll(t.Context(), []string{script(t, "patient", "exec sleep 600"), script(t, "hasty", "exit 3")})
	if err == nil || !strings.Contains(err.Error(), "hasty ended: exit status 3") {
		t.Errorf("runAll = %v, want the hasty one and its exit status", err)
	}
}

func TestRunAllIsContentWhenInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := runAll(ctx, []string{script(t, "patient", "exec sleep 600")}); err != nil {
		t.Errorf("runAll = %v, want nil", err)
	}
}

func script(t *testing.T, name, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}
