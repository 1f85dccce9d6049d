// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"cmp"
	cryptox509 "crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/machinery/client/config"
	machineconfig "github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/encoder"
	"github.com/siderolabs/talos/pkg/machinery/config/generate"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/config/validation"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"github.com/siderolabs/talos/pkg/machinery/role"
)

// Hosted is a cluster whose control plane is no Talos node: it runs as pods of another
// cluster. All its nodes are workers.
type Hosted struct {
	Name              string
	Endpoint          string // host and port of the Kubernetes API
	TalosVersion      string
	KubernetesVersion string
	Schematic         string // of the install image, unless InstallerImage is set
	InstallerImage    string
	Platform          string // a cloud; empty: metal
	Installer         string // environment of the install image; empty: that of Platform
	InstallDisk       string // empty: /dev/vda, in a cloud the disk that Talos boots from
	PodCIDR           string
	ServiceCIDR       string
	TimeServers       []string
	// KubeletMounts are directories of the nodes that the kubelet sees, shared in
	// both directions.
	KubeletMounts []string
	// HostEntries are names that a worker resolves without DNS.
	HostEntries []HostEntry
	// WithoutKubePrism has kubelets use Endpoint itself. KubePrism passes on connections that
	// name no host, by which a proxy chooses among API servers.
	WithoutKubePrism bool
	// ExternalCloudProvider leaves the nodes to a cloud controller manager.
	ExternalCloudProvider bool

	Keys HostedKeys
}

// HostEntry is a line of a hosts file.
type HostEntry struct {
	Address string
	Names   []string
}

// HostedKeys are what a worker needs to join.
type HostedKeys struct {
	TalosCA        []byte // certificate of the authority that signs for the Talos API, in PEM
	TalosToken     string // that trustd accepts
	ClusterCA      []byte // certificate of the Kubernetes authority, in PEM
	BootstrapToken string // that the kubelet joins with
}

// HostedWorker is what the configuration of one worker has of its own. The zero value is
// for a configuration that several share: the platform gives each its name.
type HostedWorker struct {
	Name       string
	ProviderID string
}

// WorkerConfig returns the machine configuration of a worker, validated. The same input
// gives the same bytes.
func WorkerConfig(h Hosted, n HostedWorker) ([]byte, error) {
	cfg, err := h.worker(n)
	if err != nil {
		return nil, fmt.Errorf("talos configuration of a worker of %q: %w", h.Name, &discreetError{err})
	}
	return cfg.EncodeBytes(encoder.WithComments(encoder.CommentsDisabled))
}

func (h Hosted) worker(n HostedWorker) (machineconfig.Provider, error) {
	contract, err := versionContract(h.TalosVersion)
	if err != nil {
		return nil, err
	}
	cfg, err := h.generated(contract)
	if err != nil {
		return nil, err
	}
	if cfg, err = cfg.PatchV1Alpha1(func(doc *v1alpha1.Config) error { return h.set(doc, n) }); err != nil {
		return nil, err
	}
	if n.Name != "" {
		if cfg, err = withHostname(cfg, contract, n.Name); err != nil {
			return nil, err
		}
	}
	_, err = cfg.Validate(mode{cloud: h.Platform != ""}, validation.WithLocal())
	return cfg, err
}

func (h Hosted) generated(contract *machineconfig.VersionContract) (machineconfig.Provider, error) {
	kubernetes, err := KubernetesVersion(h.TalosVersion, h.KubernetesVersion)
	if err != nil {
		return nil, err
	}
	image := h.InstallerImage
	if image == "" {
		if image, err = InstallImage(cmp.Or(h.Installer, h.Platform), h.Schematic, h.TalosVersion); err != nil {
			return nil, err
		}
	}
	disk := h.InstallDisk
	if disk == "" && h.Platform == "" {
		disk = defaultInstallDisk
	}
	if h.Endpoint == "" {
		return nil, errors.New("the cluster has no endpoint")
	}
	prism := constants.DefaultKubePrismPort
	if h.WithoutKubePrism {
		prism = 0
	}
	input, err := generate.NewInput(h.Name, "https://"+h.Endpoint, kubernetes,
		generate.WithVersionContract(contract),
		generate.WithSecretsBundle(h.Keys.bundle()),
		generate.WithInstallImage(image),
		generate.WithInstallDisk(disk),
		generate.WithKubePrismPort(prism),
		generate.WithClusterDiscovery(false),
		generate.WithClusterCNIConfig(&v1alpha1.CNIConfig{CNIName: constants.NoneCNI}),
	)
	if err != nil {
		return nil, err
	}
	input.PodNet, input.ServiceNet = []string{h.PodCIDR}, []string{h.ServiceCIDR}
	return input.Config(machine.TypeWorker)
}

// bundle has no keys: a worker signs nothing.
func (k HostedKeys) bundle() *secrets.Bundle {
	return &secrets.Bundle{
		Clock:      clock(),
		Cluster:    &secrets.Cluster{},
		Secrets:    &secrets.Secrets{BootstrapToken: k.BootstrapToken},
		TrustdInfo: &secrets.TrustdInfo{Token: k.TalosToken},
		Certs: &secrets.Certs{
			OS:  &x509.PEMEncodedCertificateAndKey{Crt: k.TalosCA},
			K8s: &x509.PEMEncodedCertificateAndKey{Crt: k.ClusterCA},
		},
	}
}

func (h Hosted) set(doc *v1alpha1.Config, n HostedWorker) error {
	dns, err := ClusterDNS(h.ServiceCIDR)
	if err != nil {
		return err
	}
	kubelet := doc.MachineConfig.MachineKubelet
	kubelet.KubeletClusterDNS = []string{dns}
	setKubelet(kubelet, Cluster{KubeletMounts: h.KubeletMounts}, Node{ProviderID: n.ProviderID})
	if h.ExternalCloudProvider {
		doc.ClusterConfig.ExternalCloudProviderConfig = &v1alpha1.ExternalCloudProviderConfig{ExternalEnabled: new(true)}
	}
	if len(h.TimeServers) > 0 {
		doc.MachineConfig.MachineTime = &v1alpha1.TimeConfig{TimeServers: h.TimeServers} //nolint:staticcheck // every version takes it, in one document
	}
	h.setHosts(doc)
	return nil
}

// setHosts writes the host entries where every version takes them, in one document.
func (h Hosted) setHosts(doc *v1alpha1.Config) {
	for _, e := range h.HostEntries {
		if doc.MachineConfig.MachineNetwork == nil { //nolint:staticcheck // newer versions have a document for it, too
			doc.MachineConfig.MachineNetwork = &v1alpha1.NetworkConfig{} //nolint:staticcheck // as above
		}
		network := doc.MachineConfig.MachineNetwork //nolint:staticcheck // as above
		host := &v1alpha1.ExtraHost{HostIP: e.Address, HostAliases: e.Names}
		network.ExtraHostEntries = append(network.ExtraHostEntries, host) //nolint:staticcheck // as above
	}
}

// ClusterDNS is the address of the DNS service: the tenth of the service range.
func ClusterDNS(serviceCIDR string) (string, error) {
	p, err := netip.ParsePrefix(serviceCIDR)
	if err != nil {
		return "", fmt.Errorf("service range %q: %w", serviceCIDR, err)
	}
	a := p.Masked().Addr()
	for range 10 {
		a = a.Next()
	}
	if !p.Contains(a) {
		return "", fmt.Errorf("service range %s has no tenth address for DNS", p)
	}
	return a.String(), nil
}

// HostedTalosconfig returns a client configuration with an administrator's certificate that
// the authority of the Talos API has signed, valid for ttl. Its endpoints are the nodes
// themselves: a hosted control plane passes no Talos calls on.
func HostedTalosconfig(name string, ca, key []byte, nodes []string, ttl time.Duration) ([]byte, error) {
	bundle := &secrets.Bundle{Clock: clock(), Certs: &secrets.Certs{OS: &x509.PEMEncodedCertificateAndKey{Crt: ca, Key: key}}}
	certificate, err := bundle.GenerateTalosAPIClientCertificateWithTTL(role.MakeSet(role.Admin), ttl)
	if err != nil {
		return nil, fmt.Errorf("talosconfig of cluster %q: issue client certificate: %w", name, err)
	}
	cfg := config.NewConfig(name, nodes, ca, certificate)
	cfg.Contexts[name].Nodes = nodes
	return cfg.Bytes()
}

// Authority signs for the Talos API of a cluster.
type Authority struct {
	Certificate, Key []byte // in PEM
	Token            string // that trustd would accept
}

// NewAuthority generates an authority for workers whose control plane brings none.
func NewAuthority(talosVersion string) (Authority, error) {
	contract, err := versionContract(talosVersion)
	if err != nil {
		return Authority{}, err
	}
	bundle, err := secrets.NewBundle(clock(), contract)
	if err != nil {
		return Authority{}, fmt.Errorf("generate an authority for talos %s: %w", talosVersion, err)
	}
	return Authority{Certificate: bundle.Certs.OS.Crt, Key: bundle.Certs.OS.Key, Token: bundle.TrustdInfo.Token}, nil
}

// Access is what a talosconfig gives.
type Access struct {
	Nodes       []string
	Certificate *cryptox509.Certificate
	Expires     time.Time
}

// ReadTalosconfig returns what the current context of a talosconfig gives.
func ReadTalosconfig(talosconfig []byte) (Access, error) {
	c, err := NewClient(talosconfig, nil)
	if err != nil {
		return Access{}, err
	}
	cfg, err := config.FromBytes(talosconfig)
	if err != nil {
		return Access{}, errors.New("parse talosconfig: not a YAML document of the expected form")
	}
	leaf := c.Certificate()
	if leaf == nil {
		return Access{}, errors.New("the talosconfig has no client certificate")
	}
	return Access{Nodes: cfg.Contexts[cfg.Context].Nodes, Certificate: leaf, Expires: leaf.NotAfter}, nil
}
