// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"fmt"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Schematics of the image factory that are known to have no iSCSI tools: the
// plain one, and the one with the guest agent of QEMU alone.
const (
	plainSchematic = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"
	agentSchematic = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515"
)

// Extensions are those of Talos that the addons of a spec do not work without.
func Extensions(spec v1alpha1.ClusterBootstrapSpec) []string {
	if (cluster{ClusterBootstrapSpec: spec}).longhorn() {
		return []string{"iscsi-tools", "util-linux-tools"}
	}
	return nil
}

// Warnings are about addons that a spec may have, but that will hardly work as
// it has this version of Kubernetes.
func Warnings(spec v1alpha1.ClusterBootstrapSpec, kubernetes string) (out []string) {
	c := cluster{ClusterBootstrapSpec: spec, facts: Facts{KubernetesVersion: kubernetes}}
	if untested := c.untested(); len(untested) > 0 {
		out = append(out, fmt.Sprintf("the cluster gets Kubernetes %s, which these default versions are not documented for: %s; set newer versions in spec.addons, or spec.cluster.kubernetesVersion", kubernetes, strings.Join(untested, ", ")))
	}
	if s := spec.Talos.Schematic; c.longhorn() && (s == plainSchematic || s == agentSchematic) {
		out = append(out, "Longhorn attaches no volume on nodes without iSCSI: create a schematic with siderolabs/iscsi-tools and siderolabs/util-linux-tools and set it as spec.talos.schematic, or set spec.addons.storage.type to none")
	}
	if n := c.storageReplicas(); c.longhorn() && n > c.hosts() {
		out = append(out, fmt.Sprintf("Longhorn keeps %d copies of a volume on different nodes, and only %d take volumes: set spec.addons.storage.replicaCount to %d, or volumes stay degraded", n, c.hosts(), c.hosts()))
	}
	hosted := c.controlPlaneProvider(Steward) || c.controlPlaneProvider(Kamaji)
	if hosted && !c.longhorn() {
		out = append(out, "the control plane provider keeps its data in volumes, and no storage is installed: bring a default StorageClass, set spec.addons.storage.type to longhorn, or spec.addons.controlPlaneProvider.type to none")
	}
	if c.gateway() && !c.cilium() {
		out = append(out, "spec.controlPlaneExposure.mode Gateway needs a Gateway controller, and without Cilium none is installed: bring one that serves TLSRoutes")
	}
	if ConsoleURL(spec) != "" && !c.ingress(Traefik) && !c.ingress("nginx") {
		out = append(out, "the console's Ingress has no ingress controller: bring one, or set spec.addons.console.ingress.enabled to false")
	}
	return out
}
