// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package manifest reads what a user hands to butleradm: one file with the API
// objects of one cluster. Everything that is wrong with it is found at once,
// without an API server.
package manifest

import (
	"fmt"
	"os"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Namespace is where objects go that name none.
const Namespace = "butler-system"

// Manifest is a cluster and what it refers to, with all defaults applied.
type Manifest struct {
	Cluster  *v1alpha1.ClusterBootstrap
	Provider *v1alpha1.ProviderConfig
	// Secret with the provider's credentials, if the file has it.
	Secret *corev1.Secret
	// Others are the Secrets of the file that addons and registries refer to.
	Others []*corev1.Secret
	// Pools are the NetworkPools that the ProviderConfig refers to, as far as the file has
	// them.
	Pools []*v1alpha1.NetworkPool

	file    string
	secrets []*corev1.Secret // all of the file
	sources map[client.Object]*document
}

// Check finds what is wrong with a manifest whose objects are there.
type Check func(*Manifest) []Problem

// Load reads a file and reports everything that is wrong with it, as an Invalid.
func Load(path string, checks ...Check) (*Manifest, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	return Parse(path, data, checks...)
}

// Parse is Load for what has been read.
func Parse(path string, data []byte, checks ...Check) (*Manifest, error) {
	m := &Manifest{file: path, sources: map[client.Object]*document{}}
	if p := otherText(data); p != nil {
		return m, m.Refuse(*p)
	}
	var problems []Problem
	found := map[string]int{}
	for _, d := range split(data) {
		if p := d.read(); p != nil {
			problems = append(problems, *p)
			found[""]++
			continue
		}
		if d.content == nil {
			continue
		}
		wrong, err := m.add(d, found)
		if err != nil {
			return nil, err
		}
		problems = append(problems, wrong...)
	}
	problems = append(problems, missing(found)...)
	if m.Cluster != nil && m.Provider != nil {
		for _, check := range append([]Check{references, values}, checks...) {
			problems = unreported(problems, check(m))
		}
	}
	return m, m.Refuse(problems...)
}

// add puts the object of a document in its place. Of a kind there is one, but for
// Secrets and NetworkPools.
func (m *Manifest) add(d *document, found map[string]int) ([]Problem, error) {
	o, problems, err := d.object()
	if err != nil {
		return nil, err
	}
	if secret, is := o.(*corev1.Secret); is {
		m.sources[o], m.secrets = d, append(m.secrets, secret)
		return problems, nil
	}
	if pool, is := o.(*v1alpha1.NetworkPool); is {
		m.sources[o], m.Pools = d, append(m.Pools, pool)
		return problems, nil
	}
	kind := d.text("kind")
	if found[kind]++; found[kind] == 2 {
		problems = append(problems, Problem{Line: d.start(), Message: "this is a second " + kind + "; a manifest holds one"})
	}
	if o == nil || found[kind] > 1 {
		return problems, nil
	}
	m.sources[o] = d
	switch o := o.(type) {
	case *v1alpha1.ClusterBootstrap:
		m.Cluster = o
	case *v1alpha1.ProviderConfig:
		m.Provider = o
	}
	return problems, nil
}

// missing are the kinds that a manifest needs. A document that cannot be read
// may be one of them.
func missing(found map[string]int) (out []Problem) {
	if found[""] > 0 {
		return nil
	}
	if found["ClusterBootstrap"] == 0 {
		out = append(out, Problem{Message: "there is no ClusterBootstrap"})
	}
	if found["ProviderConfig"] == 0 {
		out = append(out, Problem{Message: "there is no ProviderConfig; add the one that spec.providerRef names"})
	}
	return out
}

// unreported adds what a check found about fields that nothing is known of yet:
// one cause per field is enough.
func unreported(problems, more []Problem) []Problem {
	known := len(problems)
	for _, p := range more {
		same := func(k Problem) bool { return k.Field == p.Field && k.Line == p.Line && p.Field != "" }
		if !slices.ContainsFunc(problems[:known], same) {
			problems = append(problems, p)
		}
	}
	return problems
}
