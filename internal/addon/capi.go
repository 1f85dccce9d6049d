// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// ProviderKind is a kind of Cluster API provider, named as clusterctl does.
type ProviderKind string

// The kinds of Cluster API providers.
const (
	CoreProvider           ProviderKind = "CoreProvider"
	BootstrapProvider      ProviderKind = "BootstrapProvider"
	ControlPlaneProvider   ProviderKind = "ControlPlaneProvider"
	InfrastructureProvider ProviderKind = "InfrastructureProvider"
	IPAMProvider           ProviderKind = "IPAMProvider"
)

// Provider is a provider of Cluster API.
type Provider struct {
	Kind ProviderKind
	// Name as clusterctl knows it.
	Name    string
	Version string
	// Repository is its owner and name on GitHub, and File its components there.
	Repository, File string
	// Namespace that the components bring along.
	Namespace string
	// Variables that the components want, besides those with a good default.
	Variables []Variable
	// Platform is set for infrastructure providers.
	Platform v1alpha1.ProviderType
	// Credentials of a platform that is not the cluster's own; nil means those
	// of the cluster's ProviderConfig, or none.
	Credentials *v1alpha1.SecretReference

	// Gates of the provider that are opened, whatever its components say.
	Gates []string

	prefix   string      // of its objects' names
	level    PodSecurity // that its pods need, where that is not baseline and the components do not say so
	crd      string
	webhooks []Ref
	beside   []string // further Deployments
}

// Variable is one that is replaced in a provider's components.
type Variable struct {
	Name string
	// Required: the components cannot be made without it.
	Required bool
}

// pin is the name of the provider in the table of versions.
func (p Provider) pin() string {
	if p.Name == kubevirtProvider || p.Platform == "" {
		return p.Name
	}
	return string(p.Platform)
}

// URL of the components, in the form that clusterctl reads.
func (p Provider) URL() string { return p.release("releases/"+p.Version, p.File) }

// Download is the address of one of the release's files: the components, or
// metadata.yaml.
func (p Provider) Download(file string) string {
	return p.release("releases/download/"+p.Version, file)
}

func (p Provider) release(dir, file string) string {
	return strings.Join([]string{"https://github.com", p.Repository, dir, file}, "/")
}

func (p Provider) ready() Readiness {
	names := append([]string{p.prefix + "-controller-manager"}, p.beside...)
	return Readiness{Workloads: deployments(p.Namespace, names...), CRDs: []string{p.crd}, Webhooks: p.webhooks}
}

// bothWebhooks are those of a provider that was built with the usual names.
func bothWebhooks(prefix string) []Ref {
	return append(validating(prefix+"-validating-webhook-configuration"), mutating(prefix+"-mutating-webhook-configuration")...)
}

// capi lists the providers: core, bootstrap, the control plane provider of the
// spec, the cluster's own infrastructure and that of the spec.
func capi(c cluster, a *Addon) {
	line := lineOf(a.Version)
	a.Providers = append(coreProviders(a.Version), hostedProviders(c, line)...)
	a.Providers = append(a.Providers, infrastructure(c, line)...)
	for _, p := range a.Providers {
		if p.level != "" {
			a.Beside = append(a.Beside, Namespace{p.Namespace, p.level})
		}
		r := p.ready()
		a.Ready.Workloads = append(a.Ready.Workloads, r.Workloads...)
		a.Ready.CRDs = append(a.Ready.CRDs, r.CRDs...)
		a.Ready.Webhooks = append(a.Ready.Webhooks, r.Webhooks...)
	}
}

func coreProviders(version string) []Provider {
	const repository = "kubernetes-sigs/cluster-api"
	return []Provider{
		{
			Kind: CoreProvider, Name: "cluster-api", Version: version, Repository: repository, File: "core-components.yaml",
			Namespace: "capi-system", prefix: "capi", crd: "clusters.cluster.x-k8s.io", webhooks: bothWebhooks("capi"),
		},
		{
			Kind: BootstrapProvider, Name: "kubeadm", Version: version, Repository: repository, File: "bootstrap-components.yaml",
			Namespace: "capi-kubeadm-bootstrap-system", prefix: "capi-kubeadm-bootstrap",
			crd: "kubeadmconfigs.bootstrap.cluster.x-k8s.io", webhooks: bothWebhooks("capi-kubeadm-bootstrap"),
		},
	}
}

// skipInfrastructure is a gate of the providers of Steward and Kamaji: they leave infrastructure
// clusters alone, of which they know some only. butler-controller writes the endpoint to all.
const skipInfrastructure = "SkipInfraClusterPatch"

// hostedProviders are the counterparts of Steward and Kamaji.
func hostedProviders(c cluster, l Line) []Provider {
	const file = "control-plane-components.yaml"
	switch {
	case c.controlPlaneProvider(Steward):
		return []Provider{{
			Kind: ControlPlaneProvider, Name: Steward, Version: l.Providers[Steward], File: file, Gates: []string{skipInfrastructure},
			Repository: "butlerdotdev/cluster-api-control-plane-provider-steward", Namespace: stewardSystem,
			prefix: "capi-steward", crd: "stewardcontrolplanes.controlplane.cluster.x-k8s.io",
		}}
	case c.controlPlaneProvider(Kamaji):
		return []Provider{{
			Kind: ControlPlaneProvider, Name: Kamaji, Version: l.Providers[Kamaji], File: file, Gates: []string{skipInfrastructure},
			Repository: "clastix/cluster-api-control-plane-provider-kamaji", Namespace: kamajiSystem,
			prefix: "capi-kamaji", crd: "kamajicontrolplanes.controlplane.cluster.x-k8s.io",
		}}
	}
	return nil
}

// infrastructure is the cluster's own platform first, then those of the spec.
func infrastructure(c cluster, l Line) []Provider {
	wanted := []v1alpha1.CAPIInfraProviderSpec{{Name: c.Provider}}
	for _, in := range c.Addons.CAPI.InfrastructureProviders {
		if in.Name == c.Provider {
			wanted[0] = in
			continue
		}
		wanted = append(wanted, in)
	}
	var out []Provider
	for _, in := range wanted {
		p := c.infrastructureOf(in, l)
		p.Version = like(p.Version, cmp.Or(in.Version, p.Version))
		p.Credentials = in.CredentialsSecretRef
		out = append(out, p)
	}
	if slices.ContainsFunc(wanted, func(in v1alpha1.CAPIInfraProviderSpec) bool { return in.Name == v1alpha1.ProviderProxmox }) {
		out = append(out, inClusterIPAM(l))
	}
	return out
}

// ofHarvester are the versions of cluster-api-provider-harvester up to v0.9, none of which
// cluster-api-provider-kubevirt ever had.
var ofHarvester = regexp.MustCompile(`^v?0\.[2-9]\.`)

// infrastructureOf is the provider for a platform. Harvester has two: the one that the
// ProviderConfig chooses, or whose version a spec names.
func (c cluster) infrastructureOf(in v1alpha1.CAPIInfraProviderSpec, l Line) Provider {
	if in.Name != v1alpha1.ProviderHarvester {
		return infrastructureOf(in.Name, l)
	}
	own := c.facts.Platform.Harvester
	if own != nil && own.ClusterAPIProvider == v1alpha1.ClusterAPIHarvester || ofHarvester.MatchString(in.Version) {
		return infrastructureOf(in.Name, l)
	}
	return kubevirtInfrastructure(l)
}

// kubevirtInfrastructure is the provider for Harvester that works with hosted control planes.
func kubevirtInfrastructure(l Line) Provider {
	return Provider{
		Kind: InfrastructureProvider, Name: kubevirtProvider, Version: l.Providers[kubevirtProvider], Platform: v1alpha1.ProviderHarvester,
		Repository: "kubernetes-sigs/cluster-api-provider-kubevirt", File: "infrastructure-components.yaml",
		Namespace: "capk-system", prefix: "capk", crd: "kubevirtclusters.infrastructure.cluster.x-k8s.io",
		webhooks: validating("capk-validating-webhook-configuration"),
	}
}

// infrastructureOf is the provider that is named like its platform.
func infrastructureOf(platform v1alpha1.ProviderType, l Line) Provider {
	const group = ".infrastructure.cluster.x-k8s.io"
	p := Provider{Kind: InfrastructureProvider, Name: string(platform), Platform: platform, File: "infrastructure-components.yaml"}
	named := func(prefix, repository, crd string) {
		p.prefix, p.Namespace, p.Repository, p.crd = prefix, prefix+"-system", repository, crd+group
		p.Version = l.Providers[string(platform)]
	}
	switch platform {
	case v1alpha1.ProviderHarvester:
		named("caphv", "rancher-sandbox/cluster-api-provider-harvester", "harvesterclusters")
		p.Name, p.level = "harvester-harvester", Privileged
		p.webhooks = validating("caphv-validating-webhook-configuration")
	case v1alpha1.ProviderNutanix:
		named("capx", "nutanix-cloud-native/cluster-api-provider-nutanix", "nutanixclusters")
		p.Variables = []Variable{
			{"NUTANIX_ENDPOINT", true}, {"NUTANIX_PORT", false}, {"NUTANIX_INSECURE", false},
			{"NUTANIX_USER", true}, {"NUTANIX_PASSWORD", true}, {"NUTANIX_ADDITIONAL_TRUST_BUNDLE", false},
		}
	case v1alpha1.ProviderProxmox:
		named("capmox", "ionos-cloud/cluster-api-provider-proxmox", "proxmoxclusters")
		p.Variables = []Variable{{"PROXMOX_URL", false}, {"PROXMOX_TOKEN", false}, {"PROXMOX_SECRET", false}}
		p.webhooks = validating("capmox-validating-webhook-configuration")
	case v1alpha1.ProviderGCP:
		named("capg", "kubernetes-sigs/cluster-api-provider-gcp", "gcpclusters")
		p.Variables = []Variable{{"GCP_B64ENCODED_CREDENTIALS", true}}
		p.webhooks = bothWebhooks("capg")
	case v1alpha1.ProviderAWS:
		named("capa", "kubernetes-sigs/cluster-api-provider-aws", "awsclusters")
		p.Variables = []Variable{{"AWS_B64ENCODED_CREDENTIALS", true}, {"AWS_CONTROLLER_IAM_ROLE", false}}
		p.webhooks = bothWebhooks("capa")
	case v1alpha1.ProviderAzure:
		named("capz", "kubernetes-sigs/cluster-api-provider-azure", "azureclusters")
		p.Variables = []Variable{{"AZURE_SUBSCRIPTION_ID_B64", false}}
		p.webhooks = bothWebhooks("capz")
		p.beside = []string{"azureserviceoperator-controller-manager"}
	}
	return p
}

// inClusterIPAM hands out the addresses of machines on Proxmox, whose provider
// makes a pool of it for every cluster.
func inClusterIPAM(l Line) Provider {
	return Provider{
		Kind: IPAMProvider, Name: inClusterProvider, Version: l.Providers[inClusterProvider], Repository: "kubernetes-sigs/cluster-api-ipam-provider-in-cluster",
		File: "ipam-components.yaml", Namespace: "capi-ipam-in-cluster-system", prefix: "capi-ipam-in-cluster",
		crd: "inclusterippools.ipam.cluster.x-k8s.io", webhooks: bothWebhooks("capi-ipam-in-cluster"),
	}
}

// checkCredentials refuses a foreign platform whose provider cannot be had
// without credentials.
func (c cluster) checkCredentials() error {
	if !on(c.Addons.CAPI.Enabled) {
		return nil
	}
	var errs []error
	for _, p := range infrastructure(c, lineOf(c.Addons.CAPI.Version)) {
		var required []string
		for _, v := range p.Variables {
			if v.Required {
				required = append(required, v.Name)
			}
		}
		if p.Platform != c.Provider && p.Credentials == nil && len(required) > 0 {
			errs = append(errs, fmt.Errorf("spec.addons.capi.infrastructureProviders: %s needs credentials for %s: set its credentialsSecretRef",
				p.Platform, strings.Join(required, ", ")))
		}
	}
	return errors.Join(errs...)
}
