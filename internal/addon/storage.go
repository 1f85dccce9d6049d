// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"slices"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

const (
	longhornSystem = "longhorn-system"
	// longhornHome is where Longhorn keeps its engines, on every node, and its
	// volumes, where there is no disk for them.
	longhornHome = "/var/lib/longhorn"
	// extraDisk is where Talos mounts the first extra disk of a node.
	extraDisk = "/var/mnt/disk-1"
)

// longhorn keeps volumes on the extra disk where every node that takes volumes
// has one, and as many copies as the spec says: one on a single node.
func longhorn(c cluster, a *Addon) {
	replicas := c.storageReplicas()
	a.Values = map[string]any{
		"defaultSettings": map[string]any{
			"defaultReplicaCount":                 replicas,
			"defaultDataPath":                     c.dataPath(),
			"allowCollectingLonghornUsageMetrics": false,
		},
		"persistence": map[string]any{"defaultClass": true, "defaultClassReplicaCount": replicas},
	}
	if c.single() {
		a.Values["csi"] = map[string]any{
			"attacherReplicaCount": 1, "provisionerReplicaCount": 1, "resizerReplicaCount": 1, "snapshotterReplicaCount": 1,
		}
		a.Values["longhornUI"] = map[string]any{"replicas": 1}
	}
	// The CSI driver, the webhooks and the StorageClass are in no chart:
	// Longhorn's manager creates them.
	csi := []string{"csi-attacher", "csi-provisioner", "csi-resizer", "csi-snapshotter", "longhorn-driver-deployer", "longhorn-ui"}
	a.Ready = Readiness{
		Workloads: append(daemonSets(longhornSystem, "longhorn-manager", "longhorn-csi-plugin"), deployments(longhornSystem, csi...)...),
		CRDs:      []string{"engines.longhorn.io", "nodes.longhorn.io", "replicas.longhorn.io", "settings.longhorn.io", "volumes.longhorn.io"},
		Webhooks:  append(validating("longhorn-webhook-validator"), mutating("longhorn-webhook-mutator")...),
		Exist: append(
			refs("storage.k8s.io/v1", "StorageClass", "", []string{"longhorn"}),
			refs("storage.k8s.io/v1", "CSIDriver", "", []string{"driver.longhorn.io"})...),
	}
}

func (c cluster) storageReplicas() int {
	if c.single() {
		return 1
	}
	if n := c.Addons.Storage.ReplicaCount; n != nil {
		return int(*n)
	}
	return 3
}

// dataPath is one for all nodes: Longhorn knows no other default.
func (c cluster) dataPath() string {
	pools := []v1alpha1.NodePool{c.Cluster.ControlPlane}
	if !c.workerless() {
		pools = []v1alpha1.NodePool{*c.Cluster.Workers}
	}
	if slices.ContainsFunc(pools, func(p v1alpha1.NodePool) bool { return len(p.ExtraDisks) == 0 }) {
		return longhornHome
	}
	return extraDisk
}

// KubeletMounts are the directories of a node that its kubelet must see, shared
// in both directions, for the addons of a spec. Extra disks are not among them:
// those are mounted with the machine's configuration.
func KubeletMounts(spec v1alpha1.ClusterBootstrapSpec) []string {
	if !(cluster{ClusterBootstrapSpec: spec}).longhorn() {
		return nil
	}
	return []string{longhornHome}
}
