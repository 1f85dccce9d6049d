// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"cmp"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// harvester is Harvester through cluster-api-provider-harvester.
type harvester struct {
	Input
	spec v1alpha1.HarvesterSpec
}

// The endpoint is not written: the provider replaces it every minute by that of a placeholder
// load balancer on Harvester. The Cluster has the right one already, which core never replaces.
func (harvester) names() names {
	return names{version: "v1alpha1", cluster: "HarvesterCluster", template: "HarvesterMachineTemplate", silent: true}
}

func (harvester) warnings() []string {
	return []string{"machines of cluster-api-provider-harvester cannot be tagged with the cluster id; and it allocates an address of Harvester's load balancers for each tenant cluster, which nothing uses"}
}

func (h harvester) credentials() ([]*unstructured.Unstructured, error) {
	kubeconfig, err := harvesterKubeconfig(h.Input)
	if err != nil {
		return nil, err
	}
	return []*unstructured.Unstructured{h.secret(h.credentialsName(), map[string]string{"kubeconfig": kubeconfig})}, nil
}

func (h harvester) cluster() (object, error) {
	server := cmp.Or(h.spec.Endpoint, h.Resolved.ServerURL)
	if server == "" {
		return nil, &FieldError{
			Object: "ProviderConfig", Field: "spec.harvester.endpoint", cause: ErrUnresolved,
			Problem: "the address of Harvester is not known; set it, or resolve it from the kubeconfig",
		}
	}
	return object{
		"server":             server,
		"targetNamespace":    kubevirt(h).namespace(),
		"identitySecret":     object{"namespace": h.Namespace, "name": h.credentialsName()},
		"loadBalancerConfig": object{"ipamType": "dhcp"},
	}, nil
}

func (h harvester) template() (object, error) {
	image, network, err := harvesterPlace(h.Input, h.spec)
	if err != nil {
		return nil, err
	}
	if h.spec.SSHKeyPair == "" {
		return nil, ofProvider("spec.harvester.sshKeyPair", "cluster-api-provider-harvester creates no machine without a KeyPair; create one on Harvester, or set spec.harvester.clusterAPIProvider to kubevirt")
	}
	if f := h.spec.Firmware; f != "" && f != v1alpha1.FirmwareBIOS {
		return nil, ofProvider("spec.harvester.firmware", "cluster-api-provider-harvester creates machines with BIOS only; leave it out, or set spec.harvester.clusterAPIProvider to kubevirt")
	}
	return object{
		"cpu":        int64(h.machine().CPU),
		"memory":     h.machine().Memory.String(),
		"sshUser":    "talos",
		"sshKeyPair": h.spec.SSHKeyPair,
		"networks":   []any{network},
		"volumes": []any{object{
			"volumeType": "image", "imageName": image, "volumeSize": h.machine().DiskSize.String(), "bootOrder": int64(0),
		}},
	}, nil
}
