// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/siderolabs/crypto/x509"

	"github.com/butlerdotdev/butler/internal/pki"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/sim/cluster"
)

// controlPlane is the one that the configuration describes.
func (n *node) controlPlane(dir string) cluster.ControlPlane {
	cfg := n.config.Cluster()
	c := cluster.ControlPlane{
		Dir:        dir,
		Executable: n.emulator.options.Executable,
		Holder:     "emulated cluster " + cfg.Name(),
		PKI: plane.PKI{
			CA:                authority(cfg.IssuingCA()),
			FrontProxyCA:      authority(cfg.AggregatorCA()),
			ServiceAccountKey: cfg.ServiceAccount().Key,
		},
	}
	if ranges := cfg.Network().ServiceCIDRs(); len(ranges) > 0 {
		c.ServiceCIDR = ranges[0]
	}
	for _, plugin := range cfg.APIServer().AdmissionControl() {
		c.Admission = append(c.Admission, cluster.Admission{Name: plugin.Name(), Configuration: plugin.Configuration()})
	}
	return c
}

func (n *node) apiServerNames() []string {
	cfg := n.config.Cluster()
	names := []string{n.address().String(), n.hostname(), cfg.Endpoint().Hostname()}
	for _, vip := range n.sharedIPs() {
		names = append(names, vip.String())
	}
	return slices.Concat(names, n.publicAddresses(), cfg.CertSANs())
}

func authority(ca *x509.PEMEncodedCertificateAndKey) pki.CA {
	return pki.CA{Cert: ca.Crt, Key: ca.Key}
}

func (n *node) kubernetesNode() cluster.Node {
	node := cluster.Node{
		Name:           n.hostname(),
		Address:        n.address(),
		UUID:           n.machine.ID,
		CPU:            n.machine.CPU,
		MemoryMB:       n.machine.MemoryMB,
		KubeletVersion: imageTag(n.config.Machine().Kubelet().Image()),
		OSImage:        fmt.Sprintf("Talos (%s) (emulated)", n.version()),
	}
	args := n.config.Machine().Kubelet().ExtraArgs()
	node.ExternalCloud = n.config.Cluster().ExternalCloudProvider().Enabled() || slices.Contains(args["cloud-provider"], "external")
	node.ProviderID = strings.Join(args["provider-id"], "")
	return node
}

// podNetwork is the cluster's; the zero one if there is none.
func (n *node) podNetwork() (pods netip.Prefix) {
	if ranges := n.config.Cluster().Network().PodCIDRs(); len(ranges) > 0 {
		pods, _ = netip.ParsePrefix(ranges[0]) // validated by Talos
	}
	return pods
}
