// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/talos"
)

// Patchable finds the patches that no node can take. Each is tried on top of
// those before it, with secrets that are thrown away.
func Patchable(m *manifest.Manifest) (out []manifest.Problem) {
	spec := Effective(m)
	if len(spec.Talos.ConfigPatches)+len(spec.Talos.StrategicPatches) == 0 {
		return nil
	}
	plan, err := bootstrap.NewPlan(spec)
	if err != nil {
		return nil // reported by another check
	}
	secrets, err := talos.NewSecrets(spec.Talos.Version)
	if err != nil {
		return m.ProblemsIn(m.Cluster, fmt.Errorf("spec.talos.version: %w", err))
	}
	all, cluster := plan.Talos, plan.Talos
	cluster.Endpoint, cluster.JSONPatches, cluster.MergePatches = "endpoint.invalid", nil, nil
	try := func(field string, with talos.Cluster) {
		if err := configure(secrets, with, plan); err != nil {
			out = append(out, m.At(m.Cluster, field, refusal(err)))
			return
		}
		cluster = with
	}
	for i, p := range all.JSONPatches {
		with := cluster
		with.JSONPatches = append(slices.Clip(cluster.JSONPatches), p)
		try(fmt.Sprintf("spec.talos.configPatches[%d]", i), with)
	}
	for i, p := range all.MergePatches {
		with := cluster
		with.MergePatches = append(slices.Clip(cluster.MergePatches), p)
		try(fmt.Sprintf("spec.talos.strategicPatches[%d]", i), with)
	}
	return out
}

// configure makes a configuration for one machine of each role.
func configure(secrets []byte, c talos.Cluster, plan bootstrap.Plan) error {
	seen := map[v1alpha1.MachineRole]bool{}
	for _, machine := range plan.Machines {
		if seen[machine.Role] {
			continue
		}
		seen[machine.Role] = true
		if _, err := talos.Config(secrets, c, talos.Node{Name: machine.Name, Role: talos.Role(machine.Role)}); err != nil {
			return err
		}
	}
	return nil
}

// where is how an error of talos.Config begins.
var where = regexp.MustCompile(`^talos configuration of node "[^"]*": (?:(?:config|merge) patch \d+(?: \([^)]*\))?: )?`)

// refusal is why Talos does not take a patch.
func refusal(err error) string {
	return "Talos does not accept it: " + strings.Join(strings.Fields(where.ReplaceAllString(err.Error(), "")), " ")
}
