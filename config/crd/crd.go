// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package crd carries the generated CustomResourceDefinitions of this project.
package crd

import (
	"embed"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

//go:embed bases/*.yaml
var bases embed.FS

// All returns every CustomResourceDefinition of this project.
func All() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	entries, err := bases.ReadDir("bases")
	if err != nil {
		return nil, err
	}
	all := make([]*apiextensionsv1.CustomResourceDefinition, 0, len(entries))
	for _, e := range entries {
		data, err := bases.ReadFile("bases/" + e.Name())
		if err != nil {
			return nil, err
		}
		d := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(data, d); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		all = append(all, d)
	}
	return all, nil
}
