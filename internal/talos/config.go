// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"cmp"
	"fmt"
	"net"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/encoder"
	"github.com/siderolabs/talos/pkg/machinery/config/generate"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/config/validation"
	"github.com/siderolabs/talos/pkg/machinery/constants"
)

const (
	defaultInstallDisk = "/dev/vda"
	apiServerPort      = "6443"
)

// Config returns the machine configuration of a node, validated. The same
// input gives the same bytes, so that pushing it again after a crash changes
// nothing.
func Config(secrets []byte, c Cluster, n Node) ([]byte, error) {
	cfg, err := nodeConfig(secrets, c, n)
	if err != nil {
		return nil, fmt.Errorf("talos configuration of node %q: %w", n.Name, &discreetError{err})
	}
	return cfg.EncodeBytes(encoder.WithComments(encoder.CommentsDisabled))
}

func nodeConfig(secrets []byte, c Cluster, n Node) (config.Provider, error) {
	contract, err := versionContract(c.TalosVersion)
	if err != nil {
		return nil, err
	}
	cfg, err := generated(secrets, contract, c, n)
	if err != nil {
		return nil, err
	}
	for _, change := range []func(config.Provider) (config.Provider, error){
		func(p config.Provider) (config.Provider, error) { return withNodeSettings(p, c, n) },
		func(p config.Provider) (config.Provider, error) { return withHostname(p, contract, n.Name) },
		func(p config.Provider) (config.Provider, error) {
			return withStatic(p, contract, n.Static, c.SharedIP, n.Role)
		},
		func(p config.Provider) (config.Provider, error) { return withLoopback(p, c.LoopbackAddress, n) },
		func(p config.Provider) (config.Provider, error) { return withRegistries(p, c.Registries) },
		func(p config.Provider) (config.Provider, error) { return withDisks(p, contract, n.ExtraDisks) },
		func(p config.Provider) (config.Provider, error) { return withJSONPatches(p, c.JSONPatches, n.Role) },
		func(p config.Provider) (config.Provider, error) { return withMergePatches(p, c.MergePatches, n.Role) },
	} {
		if cfg, err = change(cfg); err != nil {
			return nil, err
		}
	}
	_, err = cfg.Validate(mode{cloud: c.Platform != ""}, validation.WithLocal())
	return cfg, err
}

// generated is the configuration as talosctl gen config would make it.
func generated(secrets []byte, contract *config.VersionContract, c Cluster, n Node) (config.Provider, error) {
	kind, err := machineType(n.Role)
	if err != nil {
		return nil, err
	}
	kubernetes, err := KubernetesVersion(c.TalosVersion, c.KubernetesVersion)
	if err != nil {
		return nil, err
	}
	options, err := generateOptions(secrets, contract, c)
	if err != nil {
		return nil, err
	}
	if c.Endpoint == "" {
		return nil, fmt.Errorf("cluster %q has no endpoint", c.Name)
	}
	endpoint := "https://" + net.JoinHostPort(c.Endpoint, apiServerPort)
	input, err := generate.NewInput(c.Name, endpoint, kubernetes, options...)
	if err != nil {
		return nil, err
	}
	input.PodNet, input.ServiceNet = []string{c.PodCIDR}, []string{c.ServiceCIDR}
	return input.Config(kind)
}

func generateOptions(secrets []byte, contract *config.VersionContract, c Cluster) ([]generate.Option, error) {
	bundle, err := parseSecrets(secrets)
	if err != nil {
		return nil, err
	}
	image, err := InstallImage(cmp.Or(c.Installer, c.Platform), c.Schematic, c.TalosVersion)
	if err != nil {
		return nil, err
	}
	disk := c.InstallDisk
	if disk == "" && c.Platform == "" {
		disk = defaultInstallDisk
	}
	return []generate.Option{
		generate.WithVersionContract(contract),
		generate.WithSecretsBundle(bundle),
		generate.WithInstallImage(image),
		generate.WithInstallDisk(disk),
		generate.WithKubePrismPort(constants.DefaultKubePrismPort),
		generate.WithClusterCNIConfig(&v1alpha1.CNIConfig{CNIName: constants.NoneCNI}),
		generate.WithAllowSchedulingOnControlPlanes(c.ScheduleOnControlPlanes),
		generate.WithAdditionalSubjectAltNames(c.CertSANs),
	}, nil
}

func withNodeSettings(cfg config.Provider, c Cluster, n Node) (config.Provider, error) {
	return cfg.PatchV1Alpha1(func(doc *v1alpha1.Config) error {
		if n.Role == ControlPlane && c.CNI != CNINone {
			doc.ClusterConfig.ProxyConfig.Disabled = new(true)
		}
		if c.ExternalCloudProvider {
			doc.ClusterConfig.ExternalCloudProviderConfig = &v1alpha1.ExternalCloudProviderConfig{ExternalEnabled: new(true)}
		}
		doc.MachineConfig.MachineCertSANs = append(doc.MachineConfig.MachineCertSANs, c.TalosSANs...)
		setKubelet(doc.MachineConfig.MachineKubelet, c, n)
		labels, _ := SplitLabels(n.Labels)
		for key, value := range labels {
			if doc.MachineConfig.MachineNodeLabels == nil {
				doc.MachineConfig.MachineNodeLabels = map[string]string{}
			}
			doc.MachineConfig.MachineNodeLabels[key] = value
		}
		return nil
	})
}

func setKubelet(k *v1alpha1.KubeletConfig, c Cluster, n Node) {
	for _, dir := range c.KubeletMounts {
		k.KubeletExtraMounts = append(k.KubeletExtraMounts, kubeletMount(dir))
	}
	if n.ProviderID != "" {
		k.KubeletExtraArgs = v1alpha1.Args{"provider-id": v1alpha1.NewArgValue(n.ProviderID, nil)}
	}
}

func machineType(r Role) (machine.Type, error) {
	switch r {
	case ControlPlane:
		return machine.TypeControlPlane, nil
	case Worker:
		return machine.TypeWorker, nil
	}
	return machine.TypeUnknown, fmt.Errorf("unknown role %q: want %s or %s", r, ControlPlane, Worker)
}

// mode is where a configuration is for: metal is the strictest for machinery's
// validation, since machines install Talos on a disk. Images of clouds boot from
// the disk that they were copied to.
type mode struct{ cloud bool }

func (m mode) String() string {
	if m.cloud {
		return "cloud"
	}
	return "metal"
}

func (m mode) RequiresInstall() bool { return !m.cloud }
func (mode) InContainer() bool       { return false }
