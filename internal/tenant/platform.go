// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// names are those of a provider's kinds.
type names struct {
	version, cluster, template string
	// external: the infrastructure cluster has the annotation managed-by, and this project owes
	// its status.
	external bool
	// silent: the endpoint is not written to the infrastructure cluster.
	silent bool
}

// platform is what a Cluster API provider wants to have. Its objects are built from the spec
// of their kinds.
type platform interface {
	names() names
	// credentials are Secrets and identities.
	credentials() ([]*unstructured.Unstructured, error)
	// cluster is the spec of the infrastructure cluster, without the endpoint.
	cluster() (object, error)
	// template is the spec of a machine.
	template() (object, error)
	// warnings are fields of the ProviderConfig without effect.
	warnings() []string
}

// zoned is a platform whose machines are in a failure domain that the MachineDeployment names.
type zoned interface{ zone() string }

func platformOf(in Input) (platform, error) {
	s := in.Provider.Spec
	switch {
	case s.Harvester != nil && s.Harvester.ClusterAPIProvider == v1alpha1.ClusterAPIHarvester:
		return harvester{in, *s.Harvester}, nil
	case s.Harvester != nil:
		return kubevirt{in, *s.Harvester}, nil
	case s.Nutanix != nil:
		return nutanix{in, *s.Nutanix}, nil
	case s.Proxmox != nil:
		return proxmox{in, *s.Proxmox}, nil
	case s.AWS != nil:
		return aws{in, *s.AWS}, nil
	case s.GCP != nil:
		return gcp{in, *s.GCP}, nil
	case s.Azure != nil:
		return azure{in, *s.Azure}, nil
	}
	return nil, ofProvider("spec.provider", "it has no block %s", s.Provider)
}

// Kinds returns the kinds of the infrastructure cluster and of the machine template of a
// ProviderConfig. The management cluster must serve them.
func Kinds(p *v1alpha1.ProviderConfig) (cluster, template schema.GroupVersionKind, err error) {
	found, err := platformOf(Input{Provider: p})
	if err != nil {
		return cluster, template, err
	}
	n := found.names()
	gv := schema.GroupVersion{Group: infrastructureGroup, Version: n.version}
	return gv.WithKind(n.cluster), gv.WithKind(n.template), nil
}
