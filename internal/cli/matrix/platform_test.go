// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	_ "embed"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

//go:embed testdata/harvester.yaml
var harvester string

//go:embed testdata/aws.yaml
var aws string

// platform is a provider that takes part.
type platform struct {
	name     string
	manifest string
	// namespace is that of the manifest's objects.
	namespace string
	// holds are the kinds of objects of which nothing may be left.
	holds []schema.GroupVersionResource
}

// platforms are all of them: a line makes a provider meet every fault.
func platforms() []platform {
	return []platform{
		{"harvester", harvester, "butler-system", []schema.GroupVersionResource{{Group: "kubevirt.io", Version: "v1", Resource: "virtualmachines"}, {Version: "v1", Resource: "persistentvolumeclaims"}}},
		{"aws", aws, "butler-system", nil},
	}
}

// in is the platform's manifest in another namespace, if that is not empty.
func (p platform) in(namespace string) platform {
	if namespace != "" {
		p.manifest = strings.ReplaceAll(p.manifest, "namespace: "+p.namespace, "namespace: "+namespace)
		p.namespace = namespace
	}
	return p
}

// threeControlPlanes is the platform's manifest with an etcd that has several
// members.
func (p platform) threeControlPlanes() platform {
	p.manifest = strings.Replace(p.manifest, "controlPlane: {replicas: 1", "controlPlane: {replicas: 3", 1)
	return p
}
