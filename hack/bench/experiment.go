// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"maps"

	"github.com/butlerdotdev/butler/hack/butleradm"
)

// values are what an experiment has measured, by key.
type values map[string]float64

// experiment takes measures that belong together.
type experiment struct {
	name string
	run  func(context.Context, *lab) (values, error)
}

// lab is what experiments use.
type lab struct {
	cli *butleradm.CLI
	// bin is the directory with the executables, manifest the file with the cluster to rehearse.
	bin, manifest string
}

// experiments in the order in which they run: the longest last.
func experiments() []experiment {
	all := []experiment{
		{"sizes", sizes},
		{"plane", planes},
		{"first call", firstCall},
		{"rehearsal", rehearsal},
		{"destroy", destruction},
		{"realistic", realistic},
		benchmark("internal/ipam", "Allocate", "1s"),
		benchmark("internal/teardown", "Destroy", "1x"),
		benchmark("internal/pivot", "Pivot", "1x"),
	}
	return append(append(all, requestExperiments()...), tenantExperiments()...)
}

func (v values) with(more values) values {
	maps.Copy(v, more)
	return v
}
