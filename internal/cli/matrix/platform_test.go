// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"context"
	_ "embed"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

//go:embed testdata/harvester.yaml
var harvester string

//go:embed testdata/nutanix.yaml
var nutanix string

//go:embed testdata/proxmox.yaml
var proxmox string

//go:embed testdata/gcp.yaml
var gcp string

//go:embed testdata/azure.yaml
var azure string

//go:embed testdata/aws.yaml
var aws string

// platform is a provider that takes part.
type platform struct {
	name     string
	manifest string
	// namespace is that of the manifest's objects.
	namespace string
	// credentials is the file below the simulator's state that has the secrets of the
	// user, or is one.
	credentials string
	// objects returns the names of what is on the platform by its kind, as the
	// administrator sees it whose file this is.
	objects func(ctx context.Context, admin string) (map[string][]string, error)
	// admin is that file, below the simulator's state.
	admin string
	// part is what the driver creates and deletes beside machines; empty: nothing.
	part fault.Resource
	// assigned says that the platform assigns addresses, so that no build can break
	// one-address on it.
	assigned bool
}

// platforms are all of them: a line makes a provider meet every fault.
func platforms() []platform {
	return []platform{
		{"harvester", harvester, "butler-system", "kubeconfig", harvesterObjects, "admin.yaml", fault.Disk, false},
		{"nutanix", nutanix, "butler-system", "password", nutanixObjects, "admin.json", fault.Category, true},
		{"proxmox", proxmox, "butler-system", "tokenSecret", proxmoxObjects, "admin.json", "", false},
		{"gcp", gcp, "butler-system", "serviceAccountKey", gcpObjects, "admin.json", fault.LoadBalancer, true},
		{"azure", azure, "butler-system", "clientSecret", azureObjects, "admin.json", fault.LoadBalancer, true},
		{"aws", aws, "butler-system", "secretAccessKey", awsObjects, "admin", fault.LoadBalancer, true},
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
