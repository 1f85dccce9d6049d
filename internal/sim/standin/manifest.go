// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// Manifest is the stand-in of one file of objects of a release on GitHub.
type Manifest struct {
	Traits

	parts []part
}

// NewManifest returns the stand-in for a file of a repository's release, which is
// the addon's manifest or the components of a Cluster API provider.
func NewManifest(addon, repository, file, version string) (*Manifest, error) {
	rows := map[string]func(release) []part{"kubernetes-sigs/gateway-api/experimental-install.yaml": gatewayAPI}
	for _, p := range providers() {
		rows[p.repository+"/"+p.file] = p.parts
	}
	row, known := rows[repository+"/"+file]
	if !known {
		return nil, unknown("file", repository+"/"+file, slices.Collect(maps.Keys(rows)))
	}
	parts := row(release{addon, version})
	return &Manifest{Traits: traits(parts), parts: parts}, nil
}

// YAML is the content of the file. The same manifest gives the same bytes.
func (m *Manifest) YAML() ([]byte, error) {
	var all []object
	for _, p := range m.parts {
		all = append(all, p.object)
	}
	return documents(all)
}

// Metadata is the file beside the components of a provider that says which
// contract with Cluster API its releases keep.
func Metadata(repository, version string) ([]byte, error) {
	major, minor, err := series(version)
	if err != nil {
		return nil, err
	}
	return yaml.Marshal(object{
		"apiVersion": "clusterctl.cluster.x-k8s.io/v1alpha3", "kind": "Metadata",
		"releaseSeries": []any{object{"major": major, "minor": minor, "contract": contract(repository, version)}},
	})
}

// contract is v1beta1, and v1beta2 for Cluster API itself from 1.11 on.
func contract(repository, version string) string {
	major, minor, err := series(version)
	if err == nil && repository == coreRepository && (major > 1 || minor >= 11) {
		return "v1beta2"
	}
	return "v1beta1"
}

// series is the major and minor number of a version.
func series(version string) (major, minor int, err error) {
	numbers := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(numbers) == 3 {
		var second error
		major, err = strconv.Atoi(numbers[0])
		minor, second = strconv.Atoi(numbers[1])
		if err == nil && second == nil {
			return major, minor, nil
		}
	}
	return 0, 0, fmt.Errorf("%q is not the version of a release, such as v1.9.4", version)
}
