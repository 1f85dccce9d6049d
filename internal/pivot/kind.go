// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pivot

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/config/crd"
)

// Kinds that a move treats in a way of their own. All others of this project
// move as their definitions say, those that are yet to come too.
const (
	bootstrapKind = "ClusterBootstrap"
	machineKind   = "MachineRequest"
	balancerKind  = "LoadBalancerRequest"
	providerKind  = "ProviderConfig"
	butlerKind    = "ButlerConfig"
	poolKind      = "NetworkPool"
	secretKind    = "Secret"
)

// kind is a kind of this project as its definition has it.
type kind struct {
	schema.GroupVersionKind
	definition string
}

// kinds are those of the definitions, each in the version that is stored.
func kinds(all []*apiextensionsv1.CustomResourceDefinition) ([]kind, error) {
	if all == nil {
		var err error
		if all, err = crd.All(); err != nil {
			return nil, err
		}
	}
	out := make([]kind, 0, len(all))
	for _, d := range all {
		for _, v := range d.Spec.Versions {
			if v.Storage {
				out = append(out, kind{schema.GroupVersionKind{Group: d.Spec.Group, Version: v.Name, Kind: d.Spec.Names.Kind}, d.Name})
			}
		}
	}
	return out, nil
}

func core(name string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Version: "v1", Kind: name}
}

func clusterID(o *unstructured.Unstructured) string {
	return o.GetAnnotations()[v1alpha1.AnnotationClusterID]
}

// shared reports whether both planes have their own objects of a kind: the new cluster
// gets them at the hand-over, and its controllers write to them.
func shared(o *unstructured.Unstructured) bool {
	switch o.GetKind() {
	case providerKind, butlerKind:
		return true
	case secretKind:
		return clusterID(o) == ""
	}
	return false
}

// ref names an object, on either plane.
type ref struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

func refOf(o *unstructured.Unstructured) ref { return ref{o.GetKind(), o.GetNamespace(), o.GetName()} }

func (r ref) String() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}
