// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package manifest reads what a user hands to butleradm: one file with the API
// objects of one cluster.
package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Namespace is where objects go that name none.
const Namespace = "butler-system"

// Manifest is a cluster and what it refers to.
type Manifest struct {
	Cluster  *v1alpha1.ClusterBootstrap
	Provider *v1alpha1.ProviderConfig
	// Secret with the provider's credentials, if the file has it.
	Secret *corev1.Secret
}

// Load reads a file strictly and reports everything that is wrong with it.
func Load(path string) (*Manifest, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	m, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("manifest %s:\n%w", path, err)
	}
	return m, nil
}

// Parse is Load for what has been read.
func Parse(data []byte) (*Manifest, error) {
	var objects []client.Object
	var problems []error
	for _, d := range split(data) {
		o, err := d.decode()
		if err != nil {
			problems = append(problems, fmt.Errorf("line %d: %w", d.line, err))
			continue
		}
		objects = append(objects, o)
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return assemble(objects)
}

// document is one of the objects of a file, and the line that it starts at.
type document struct {
	line int
	data []byte
}

func split(data []byte) (out []document) {
	current := document{line: 1}
	for i, line := range bytes.SplitAfter(data, []byte("\n")) {
		if bytes.HasPrefix(line, []byte("---")) {
			out = append(out, current)
			current = document{line: i + 2}
			continue
		}
		current.data = append(current.data, line...)
	}
	out = append(out, current)
	kept := out[:0]
	for _, d := range out {
		if !d.empty() {
			kept = append(kept, d)
		}
	}
	return kept
}

// empty is a document with nothing but comments.
func (d document) empty() bool {
	var v any
	return yaml.Unmarshal(d.data, &v) == nil && v == nil
}

func (d document) decode() (client.Object, error) {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(d.data, &kind); err != nil {
		return nil, err
	}
	o, err := newObject(kind)
	if err != nil {
		return nil, err
	}
	if err := d.into(o); err != nil {
		return nil, fmt.Errorf("%s: %w", kind.Kind, err)
	}
	if o.GetName() == "" {
		return nil, fmt.Errorf("%s: metadata.name is missing", kind.Kind)
	}
	if o.GetNamespace() == "" {
		o.SetNamespace(Namespace)
	}
	return o, nil
}

// into decodes strictly: a field that is unknown or doubled is an error.
func (d document) into(o client.Object) error {
	data, err := yaml.YAMLToJSONStrict(d.data)
	if err != nil {
		return err
	}
	problems, err := json.UnmarshalStrict(data, o)
	return errors.Join(append(problems, err)...)
}

func newObject(t metav1.TypeMeta) (client.Object, error) {
	group := v1alpha1.GroupVersion().String()
	switch t {
	case metav1.TypeMeta{APIVersion: group, Kind: "ClusterBootstrap"}:
		return &v1alpha1.ClusterBootstrap{}, nil
	case metav1.TypeMeta{APIVersion: group, Kind: "ProviderConfig"}:
		return &v1alpha1.ProviderConfig{}, nil
	case metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}:
		return &corev1.Secret{}, nil
	}
	return nil, fmt.Errorf("a %q of %q does not belong here; a manifest holds a ClusterBootstrap and a ProviderConfig of %s, and possibly a Secret of v1", t.Kind, t.APIVersion, group)
}
