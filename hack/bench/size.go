// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// executables are those of a release.
func executables() []string {
	all := []string{"butleradm", "butler-bootstrap", "butler-controller"}
	for _, p := range providers() {
		all = append(all, "butler-provider-"+p)
	}
	return all
}

// sizes measures the executables in MB, 10⁶ bytes.
func sizes(_ context.Context, l *lab) (values, error) {
	out := values{}
	for _, name := range executables() {
		info, err := os.Stat(filepath.Join(l.bin, name))
		if err != nil {
			return nil, fmt.Errorf("%w; `make build` builds it", err)
		}
		out[name] = float64(info.Size()) / 1e6
	}
	return out, nil
}

func sizeMeasures() (all []measure) {
	for _, name := range executables() {
		m := measure{name: "size of " + strings.TrimPrefix(name, "butler-"), unit: "MB", kind: cost, margin: exact, experiment: "sizes", key: name}
		if name == "butleradm" {
			m.target = 170
		}
		all = append(all, m)
	}
	return all
}
