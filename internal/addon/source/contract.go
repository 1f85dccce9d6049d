// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	clusterctl "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/internal/addon"
)

// checkContracts refuses a provider that speaks another contract than the core
// of the same list serves.
func checkContracts(releases []release) error {
	contracts := make([]string, len(releases))
	for i, r := range releases {
		var err error
		if contracts[i], err = r.contract(); err != nil {
			return fmt.Errorf("%s from %s: %w", componentOf(r.Provider, metadataFile), r.metadata.origin, err)
		}
	}
	core := slices.IndexFunc(releases, func(r release) bool { return r.Kind == addon.CoreProvider })
	if core < 0 {
		return nil
	}
	served := servedWith(contracts[core])
	for i, r := range releases {
		if !slices.Contains(served, contracts[i]) {
			return fmt.Errorf("%s %s uses contract %s of Cluster API, and %s %s serves %s: set another version of either in spec.addons.capi",
				label(r.Provider), r.Version, contracts[i], label(releases[core].Provider), releases[core].Version, strings.Join(served, " and "))
		}
	}
	return nil
}

// servedWith are the contracts that a core of one contract works with.
func servedWith(contract string) []string {
	if contract == "v1beta2" {
		return []string{"v1beta2", "v1beta1"}
	}
	return []string{contract}
}

// contract that a release speaks. Some projects do not list each new series:
// then the one before it counts.
func (r release) contract() (string, error) {
	var m clusterctl.Metadata
	if err := yaml.Unmarshal(r.metadata.data, &m); err != nil || m.APIVersion != clusterctl.GroupVersion.String() {
		return "", errors.New("it is not metadata of clusterctl")
	}
	v, err := semver.NewVersion(r.Version)
	if err != nil {
		return "", fmt.Errorf("%q is not a version such as v1.2.3", r.Version)
	}
	series := func(s clusterctl.ReleaseSeries) []int64 { return []int64{int64(s.Major), int64(s.Minor)} }
	own := []int64{int64(v.Major()), int64(v.Minor())}
	listed := slices.DeleteFunc(m.ReleaseSeries, func(s clusterctl.ReleaseSeries) bool {
		return s.Contract == "" || slices.Compare(own, series(s)) < 0
	})
	if len(listed) == 0 {
		return "", fmt.Errorf("it lists no release series for %s: set another version", r.Version)
	}
	last := slices.MaxFunc(listed, func(a, b clusterctl.ReleaseSeries) int { return slices.Compare(series(a), series(b)) })
	return last.Contract, nil
}
