// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// sdk is the module with the endpoints that the driver's clients know.
const sdk = "github.com/aws/aws-sdk-go-v2"

// regionTable has the regions with their partitions and the suffix of their hosts.
func regionTable() (string, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", sdk).Output()
	if err != nil {
		return "", fmt.Errorf("find %s: %w", sdk, err)
	}
	raw, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "internal", "endpoints", "awsrulesfn", "partitions.json"))
	if err != nil {
		return "", err
	}
	var all struct {
		Partitions []struct {
			ID      string
			Outputs struct{ DNSSuffix string }
			Regions map[string]any
		}
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Written by generate from %s; do not edit.\n", sdk)
	for _, p := range all.Partitions {
		for _, region := range slices.Sorted(maps.Keys(p.Regions)) {
			if !strings.HasSuffix(region, "-global") {
				fmt.Fprintln(&b, region, p.ID, p.Outputs.DNSSuffix)
			}
		}
	}
	return b.String(), nil
}
