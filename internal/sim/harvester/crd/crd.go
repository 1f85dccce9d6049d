// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package crd holds the definitions of Harvester's resources that the simulator
// serves. They are generated from Go types: KubeVirt's own API module, and the
// image type beside this package.
package crd

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

//go:generate go run ./generate -tools ../../../../go.tools.mod -header ../../../../hack/boilerplate.go.txt -out bases

//go:embed bases/*.json
var bases embed.FS

// All returns every definition.
func All() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	files, err := fs.Glob(bases, "bases/*.json")
	if err != nil {
		return nil, err
	}
	all := []*apiextensionsv1.CustomResourceDefinition{networkAttachment()}
	for _, file := range files {
		raw, err := bases.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var d apiextensionsv1.CustomResourceDefinition
		if err := json.Unmarshal(raw, &d); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		all = append(all, &d)
	}
	return all, nil
}
