// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// apiServerPort is the one that API servers listen on.
const apiServerPort int64 = 6443

// cluster is the Cluster. It may refer to an infrastructure cluster that does not exist yet:
// core waits for it.
func (in Input) cluster(n names) *unstructured.Unstructured {
	net := in.Cluster.Spec.Networking
	u := in.new(coreGroup+"/"+in.Core, "Cluster", in.name(), object{
		"clusterNetwork": object{
			"apiServerPort": apiServerPort,
			"pods":          object{"cidrBlocks": []any{net.PodCIDR}},
			"services":      object{"cidrBlocks": []any{net.ServiceCIDR}},
			"serviceDomain": "cluster.local",
		},
		"controlPlaneRef":   in.ref(controlPlaneGroup, controlPlaneVersion, in.controlPlaneKind(), in.name()),
		"infrastructureRef": in.ref(infrastructureGroup, n.version, n.cluster, in.name()),
	})
	u.SetAnnotations(map[string]string{v1alpha1.AnnotationClusterID: in.ClusterID})
	if in.Endpoint != nil {
		u.Object["spec"].(object)["controlPlaneEndpoint"] = in.Endpoint.object()
	}
	return u
}

func (e Endpoint) object() object { return object{"host": e.Host, "port": int64(e.Port)} }

// infrastructure is the infrastructure cluster, with the endpoint.
func (in Input) infrastructure(n names, spec object) *unstructured.Unstructured {
	u := in.new(infrastructureGroup+"/"+n.version, n.cluster, in.name(), spec)
	if !n.silent {
		spec["controlPlaneEndpoint"] = in.Endpoint.object()
	}
	if n.external {
		u.SetAnnotations(map[string]string{managedBy: "butler"})
	}
	return u
}

// status is what the controller of an infrastructure cluster leaves to this project.
func (in Input) status(p platform) *unstructured.Unstructured {
	n := p.names()
	if !n.external {
		return nil
	}
	u := &unstructured.Unstructured{Object: object{"apiVersion": infrastructureGroup + "/" + n.version, "kind": n.cluster}}
	u.SetName(in.name())
	u.SetNamespace(in.Namespace)
	status := object{"ready": true}
	if z, ok := p.(zoned); ok {
		status["failureDomains"] = object{z.zone(): object{"controlPlane": false}}
	}
	u.Object["status"] = status
	return u
}
