// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package crd_test

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// TestWhatIsRequiredCannotBeLeftOut takes each required field out of a manifest that
// has every field.
func TestWhatIsRequiredCannotBeLeftOut(t *testing.T) {
	pool := []string{"replicas", "cpu", "memoryMB", "diskGB", "extraDisks[].sizeGB"}
	w := newFixture(t)
	for file, paths := range map[string][]string{
		"clusterbootstrap": append(append([]string{
			"provider", "providerRef", "providerRef.name", "cluster", "network", "talos", "cluster.name", "cluster.controlPlane",
			"network.podCIDR", "network.serviceCIDR", "network.loadBalancerPool.start", "network.loadBalancerPool.end",
			"talos.version", "talos.schematic", "talos.configPatches[].op", "talos.configPatches[].path", "talos.configPatches[].value",
			"talos.strategicPatches[].patch", "controlPlaneExposure.hostname", "registries[].host", "registries[].secretRef", "registries[].secretRef.name",
			"addons.capi.infrastructureProviders[].name", "addons.capi.infrastructureProviders[].credentialsSecretRef.name",
		}, below("cluster.controlPlane", pool)...), below("cluster.workers", pool)...),
		"machinerequest":      {"providerRef", "providerRef.name", "machineName", "role", "cpu", "memoryMB", "diskGB", "extraDisks[].sizeGB"},
		"networkpool":         {"cidr", "reserved[].cidr", "tenantAllocation.ranges[].start", "tenantAllocation.ranges[].end"},
		"ipallocation":        {"poolRef", "poolRef.name", "type", "clusterBootstrapRef.name"},
		"ipallocation-pinned": {"pinnedRange.startAddress", "pinnedRange.endAddress", "machineRequestRef.name"},
		"ipallocation-tenant": {"tenantClusterRef.name", "tenantClusterRef.namespace"},
		"addressclaim": {
			"address", "poolRef", "poolRef.namespace", "poolRef.name", "allocationRef", "allocationRef.namespace", "allocationRef.name",
			"usedBy.kind", "usedBy.name",
		},
		"loadbalancerrequest": {"clusterName", "providerConfigRef", "providerConfigRef.name"},
		"providerconfig-harvester": {
			"provider", "credentialsRef", "credentialsRef.name", "harvester", "harvester.networkName",
		},
		"providerconfig-nutanix": {"credentialsRef", "nutanix.clusterUUID", "nutanix.endpoint", "nutanix.subnetUUID"},
		"providerconfig-proxmox": {
			"credentialsRef", "proxmox.endpoint", "proxmox.nodes", "proxmox.storage", "proxmox.vmidRange.start", "proxmox.vmidRange.end",
		},
		"tenantcluster": {
			"kubernetesVersion", "workers", "workers.replicas", "teamRef.name", "providerConfigRef.name", "controlPlane.dataStoreRef.name",
			"networking.loadBalancerPool.start", "networking.loadBalancerPool.end",
		},
		"team":                 {"access.users[].name", "access.groups[].name", "providerConfigRef.name"},
		"providerconfig-aws":   {"aws.region"},
		"providerconfig-gcp":   {"gcp.projectID", "gcp.region"},
		"providerconfig-azure": {"azure.resourceGroup", "azure.subscriptionID"},
	} {
		for _, path := range paths {
			o := read(t, "full/"+file+".yaml")[0]
			if get(o.Object, "spec."+path) == nil {
				t.Errorf("%s has no %s", file, path)
				continue
			}
			set(o.Object, "spec."+path, nil)
			field := path[strings.LastIndexAny(path, ".]")+1:]
			if err := w.try(o); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), field) {
				t.Errorf("%s without %s: %v", file, path, err)
			}
		}
	}
}

func below(path string, fields []string) (out []string) {
	for _, f := range fields {
		out = append(out, path+"."+f)
	}
	return out
}
