// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "testing"

func TestUnreachable(t *testing.T) {
	for said, want := range map[string]bool{
		"govulncheck: fetching vulnerabilities: Get https://vuln.go.dev/index/modules.json.gz: dial tcp: lookup vuln.go.dev: no such host": true,
		"HTTP GET https://vuln.go.dev/index/db.json.gz returned unexpected status code 403":                                                true,
		"Vulnerability #1: GO-2026-1234 … More info: https://pkg.go.dev/vuln/GO-2026-1234":                                                 false,
		"govulncheck: loading packages: no required module provides package":                                                               false,
	} {
		if got := unreachable(said); got != want {
			t.Errorf("%q: %v", said, got)
		}
	}
}
