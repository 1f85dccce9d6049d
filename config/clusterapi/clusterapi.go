// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package clusterapi carries the CustomResourceDefinitions of Cluster API and of its
// providers, in the releases that this project pairs: the kinds and versions that are used,
// without descriptions. Tests hold the objects of tenant clusters against them, and the
// simulator serves them.
//
// The folder definitions is written by hack/clusterapi from the modules of the releases. The
// folder handwritten has the providers whose modules cannot be had: the fields that are used,
// and no others.
package clusterapi

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

//go:embed definitions/*.json handwritten/*.yaml
var files embed.FS

// The names of what has definitions.
const (
	Core          = "core"
	AWS           = "aws"
	GCP           = "gcp"
	Azure         = "azure"
	Nutanix       = "nutanix"
	Proxmox       = "proxmox"
	Kubevirt      = "kubevirt"
	Harvester     = "harvester"
	IPAMInCluster = "ipam-in-cluster"
	Steward       = "steward"
	Kamaji        = "kamaji"
)

// Definition is a CustomResourceDefinition.
type Definition = apiextensionsv1.CustomResourceDefinition

// Definitions returns the definitions of a release, such as those of aws v2.8.4. Kinds that
// are served in several versions have no conversion: the caller keeps one of them, or brings
// the webhook.
func Definitions(name, version string) ([]*Definition, error) {
	if h, ok := handwritten()[name]; ok {
		return h.definitions(name, version)
	}
	data, err := files.ReadFile("definitions/" + name + "-" + version + ".json")
	if err != nil {
		return nil, fmt.Errorf("there are no definitions of %s %s: add the release to hack/clusterapi and run make clusterapi: %w", name, version, err)
	}
	var all []*Definition
	return all, json.Unmarshal(data, &all)
}

// release is one whose definitions are written by hand.
type release struct {
	glob string
	// versions that have all fields of the definitions.
	versions []string
}

func handwritten() map[string]release {
	return map[string]release{
		Harvester: {"*_harvester*.yaml", []string{"v0.2.9"}},
		Steward:   {"*_steward*.yaml", []string{"v0.3.0"}},
		Kamaji:    {"*_kamaji*.yaml", []string{"v0.14.2", "v0.15.4"}},
	}
}

func (r release) definitions(name, version string) ([]*Definition, error) {
	if !slices.Contains(r.versions, version) {
		return nil, fmt.Errorf("the definitions of %s are those of %s, not of %s", name, strings.Join(r.versions, " and "), version)
	}
	found, err := fs.Glob(files, "handwritten/"+r.glob)
	if err != nil {
		return nil, err
	}
	var all []*Definition
	for _, file := range found {
		data, err := files.ReadFile(file)
		if err != nil {
			return nil, err
		}
		d := &Definition{}
		if err := yaml.UnmarshalStrict(data, d); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, d)
	}
	return all, nil
}
