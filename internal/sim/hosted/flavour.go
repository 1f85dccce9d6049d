// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// flavour is a program that hosts control planes: Steward, or Kamaji, which it came from.
type flavour struct {
	name, prefix, group string
	// newest is the newest Kubernetes that it is built for.
	newest string
	trustd bool // it can sign the certificates of Talos workers
}

func flavours() []flavour {
	return []flavour{
		{name: "steward", prefix: "Steward", group: "steward.butlerlabs.dev", newest: "v1.35.0", trustd: true},
		{name: "kamaji", prefix: "Kamaji", group: "kamaji.clastix.io", newest: "v1.30.2"},
	}
}

const controlPlaneGroup = "controlplane.cluster.x-k8s.io"

func (f flavour) controlPlanes() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: controlPlaneGroup, Version: "v1alpha1", Kind: f.prefix + "ControlPlane"}
}

func (f flavour) tenants() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: f.group, Version: "v1alpha1", Kind: "TenantControlPlane"}
}

// Program is a program of a pod: what it does with access to its cluster until ctx ends.
type Program func(ctx context.Context, config *rest.Config) error

// ProgramOf returns the program of a pod that this host plays, or nil.
func (h *Host) ProgramOf(pod *corev1.Pod) Program {
	for _, c := range pod.Spec.Containers {
		image, _, _ := strings.Cut(c.Image, "@")
		if i := strings.LastIndex(image, ":"); i > strings.LastIndex(image, "/") {
			image = image[:i]
		}
		for _, f := range flavours() {
			switch {
			case strings.HasSuffix(image, "/capi-"+f.name), strings.HasSuffix(image, "/cluster-api-control-plane-provider-"+f.name):
				return h.provider(f, c.Args)
			case strings.HasSuffix(image, "/"+f.name):
				return h.operator(f)
			}
		}
	}
	return nil
}
