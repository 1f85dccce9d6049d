// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

func keys(addons []Addon) (out []string) {
	for _, a := range addons {
		out = append(out, a.Key)
	}
	slices.Sort(out)
	return out
}

func TestInstalledWhen(t *testing.T) {
	everywhere := []string{Cilium, CertManager, Longhorn, Steward, CAPI, Flux, ButlerCRDs, ButlerController}
	with := func(more ...string) []string {
		out := slices.Concat(everywhere, more)
		slices.Sort(out)
		return out
	}
	without := func(from []string, less ...string) []string {
		return slices.DeleteFunc(slices.Clone(from), func(k string) bool { return slices.Contains(less, k) })
	}
	for _, p := range []v1alpha1.ProviderType{v1alpha1.ProviderHarvester, v1alpha1.ProviderNutanix, v1alpha1.ProviderProxmox} {
		own := ButlerProvider + string(p)
		single := singleNode()
		single.Provider = p
		pool := singlePool()
		pool.Provider = p
		check(t, string(p)+" ha", onPrem(p), with(KubeVIP, MetalLB, Traefik, ButlerBootstrap, own))
		check(t, string(p)+" single-node", single, with(Traefik, own))
		check(t, string(p)+" single-node with a pool", pool, with(Traefik, MetalLB, own))
	}
	for _, p := range []v1alpha1.ProviderType{v1alpha1.ProviderGCP, v1alpha1.ProviderAWS, v1alpha1.ProviderAzure} {
		own := ButlerProvider + string(p)
		single := cloud(p)
		single.Cluster.Topology, single.Cluster.Workers = v1alpha1.TopologySingleNode, nil
		check(t, string(p)+" ha", cloud(p), with(CloudControllerManager, ButlerBootstrap, own))
		check(t, string(p)+" single-node", single, with(CloudControllerManager, own))
	}

	ha := with(KubeVIP, MetalLB, Traefik, ButlerBootstrap, "butler-provider-harvester")
	changed := func(name string, change func(*v1alpha1.ClusterBootstrapSpec), want []string) {
		s := onPrem(v1alpha1.ProviderHarvester)
		change(&s)
		slices.Sort(want)
		check(t, name, s, want)
	}
	a := func(f func(*v1alpha1.AddonsSpec)) func(*v1alpha1.ClusterBootstrapSpec) {
		return func(s *v1alpha1.ClusterBootstrapSpec) { f(&s.Addons) }
	}
	changed("no network", a(func(s *v1alpha1.AddonsSpec) { s.CNI.Type = none }), without(ha, Cilium))
	changed("no storage", a(func(s *v1alpha1.AddonsSpec) { s.Storage.Type = none }), without(ha, Longhorn))
	changed("no load balancer", a(func(s *v1alpha1.AddonsSpec) { s.LoadBalancer.Type = none }), without(ha, MetalLB))
	changed("load balancer off", a(func(s *v1alpha1.AddonsSpec) { s.LoadBalancer.Enabled = new(false) }), without(ha, MetalLB))
	changed("no pool", func(s *v1alpha1.ClusterBootstrapSpec) { s.Network.LoadBalancerPool = nil }, without(ha, MetalLB))
	changed("the deprecated pool", func(s *v1alpha1.ClusterBootstrapSpec) {
		s.Network.LoadBalancerPool, s.Addons.LoadBalancer.AddressPool = nil, "10.40.1.0/28"
	}, ha)
	changed("no kube-vip", a(func(s *v1alpha1.AddonsSpec) { s.ControlPlaneHA.Type = none }), without(ha, KubeVIP))
	changed("kube-vip off", a(func(s *v1alpha1.AddonsSpec) { s.ControlPlaneHA.Enabled = new(false) }), without(ha, KubeVIP))
	changed("no ingress", a(func(s *v1alpha1.AddonsSpec) { s.Ingress.Type = none }), without(ha, Traefik))
	changed("ingress off", a(func(s *v1alpha1.AddonsSpec) { s.Ingress.Enabled = new(false) }), without(ha, Traefik))
	changed("nginx", a(func(s *v1alpha1.AddonsSpec) { s.Ingress.Type = "nginx" }), append(without(ha, Traefik), IngressNginx))
	changed("kamaji", a(func(s *v1alpha1.AddonsSpec) { s.ControlPlaneProvider.Type = "kamaji" }), append(without(ha, Steward), Kamaji))
	changed("no hosted control planes", a(func(s *v1alpha1.AddonsSpec) { s.ControlPlaneProvider.Type = none }), without(ha, Steward))
	changed("hosted control planes off", a(func(s *v1alpha1.AddonsSpec) { s.ControlPlaneProvider.Enabled = new(false) }), without(ha, Steward))
	changed("no Cluster API", a(func(s *v1alpha1.AddonsSpec) { s.CAPI.Enabled = new(false) }), without(ha, CAPI))
	changed("no GitOps", a(func(s *v1alpha1.AddonsSpec) { s.GitOps.Type = none }), without(ha, Flux))
	changed("GitOps off", a(func(s *v1alpha1.AddonsSpec) { s.GitOps.Enabled = new(false) }), without(ha, Flux))
	changed("no platform", a(func(s *v1alpha1.AddonsSpec) { s.ButlerController.Enabled = new(false) }),
		without(ha, ButlerCRDs, ButlerController, ButlerBootstrap, "butler-provider-harvester"))
	changed("console", a(func(s *v1alpha1.AddonsSpec) { s.Console.Enabled = new(true) }), append(slices.Clone(ha), Console))
	changed("Gateway mode", func(s *v1alpha1.ClusterBootstrapSpec) {
		s.ControlPlaneExposure = &v1alpha1.ControlPlaneExposureSpec{Mode: v1alpha1.ExposureGateway}
	}, append(slices.Clone(ha), GatewayAPI))
	check(t, "minimal", minimal(), []string{Cilium})
}

func check(t *testing.T, name string, spec v1alpha1.ClusterBootstrapSpec, want []string) {
	t.Helper()
	addons, err := For(spec, facts("10.40.0.200"))
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if diff := cmp.Diff(want, keys(addons)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestAddonsThatCannotWorkAreRefusedWithWhatToSet(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*v1alpha1.ClusterBootstrapSpec)
		want   []string
	}{
		"no cert-manager": {
			func(s *v1alpha1.ClusterBootstrapSpec) { s.Addons.CertManager.Enabled = new(false) },
			[]string{
				"steward needs cert-manager: set spec.addons.certManager.enabled to true, or spec.addons.controlPlaneProvider.type to none",
				"capi needs cert-manager: set spec.addons.certManager.enabled to true, or spec.addons.capi.enabled to false",
			},
		},
		"kamaji without cert-manager": {
			func(s *v1alpha1.ClusterBootstrapSpec) {
				s.Addons.CertManager.Enabled, s.Addons.ControlPlaneProvider.Type = new(false), "kamaji"
			},
			[]string{"kamaji needs cert-manager"},
		},
		"a console without a platform": {
			func(s *v1alpha1.ClusterBootstrapSpec) {
				s.Addons.ButlerController.Enabled, s.Addons.Console.Enabled = new(false), new(true)
			},
			[]string{"console needs butler-controller: set spec.addons.butlerController.enabled to true, or spec.addons.console.enabled to false"},
		},
		"a pool that is none": {
			func(s *v1alpha1.ClusterBootstrapSpec) {
				s.Network.LoadBalancerPool, s.Addons.LoadBalancer.AddressPool = nil, "10.40.0.250-10.40.0.210"
			},
			[]string{`spec.addons.loadBalancer.addressPool "10.40.0.250-10.40.0.210" must be`},
		},
		"a version that is none": {
			func(s *v1alpha1.ClusterBootstrapSpec) {
				s.Addons.Storage.Version = "latest"
				s.Addons.CAPI.InfrastructureProviders = []v1alpha1.CAPIInfraProviderSpec{{Name: v1alpha1.ProviderHarvester, Version: "main"}}
			},
			[]string{
				`longhorn has no version "latest": set one such as 1.7.2, or leave it out`,
				`harvester has no version "main": set one such as v0.1.10, or leave it out`,
			},
		},
		"a foreign cloud without credentials": {
			func(s *v1alpha1.ClusterBootstrapSpec) {
				s.Addons.CAPI.InfrastructureProviders = []v1alpha1.CAPIInfraProviderSpec{{Name: v1alpha1.ProviderGCP}, {Name: v1alpha1.ProviderAzure}}
			},
			[]string{"gcp needs credentials for GCP_B64ENCODED_CREDENTIALS: set its credentialsSecretRef"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := onPrem(v1alpha1.ProviderHarvester)
			c.change(&s)
			_, err := For(s, facts("10.40.0.200"))
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want %q in it", err, want)
				}
			}
			if strings.Contains(err.Error(), "azure") {
				t.Errorf("%q: Azure's provider needs no credentials", err)
			}
		})
	}
	f := facts("10.40.0.200")
	f.Version = ""
	if _, err := For(fullExample(), f); err == nil || !strings.Contains(err.Error(), "version of this program") {
		t.Errorf("without a version: %v", err)
	}
}

func TestVersionsAreWrittenAsTheirSourceDoes(t *testing.T) {
	s := onPrem(v1alpha1.ProviderHarvester)
	s.Addons.CNI.Version, s.Addons.CertManager.Version, s.Addons.ControlPlaneHA.Version = "v1.17.5", "1.16.5", "0.8.9"
	s.Addons.CAPI.Version = "1.9.5-rc.1"
	addons := resolve(t, s, facts("10.40.0.200"))
	for key, want := range map[string]string{Cilium: "1.17.5", CertManager: "v1.16.5", KubeVIP: "v0.8.9", CAPI: "v1.9.5-rc.1", Longhorn: "1.7.2", ButlerCRDs: "0.1.0"} {
		if got := find(t, addons, key).Version; got != want {
			t.Errorf("%s: got %s, want %s", key, got, want)
		}
	}
}

func TestProviderOfTheClusterComesFirstAndOnce(t *testing.T) {
	s := cloud(v1alpha1.ProviderAWS)
	s.Addons.CAPI.InfrastructureProviders = []v1alpha1.CAPIInfraProviderSpec{
		{Name: v1alpha1.ProviderProxmox}, {Name: v1alpha1.ProviderAWS, Version: "v2.7.2"},
	}
	var got []string
	for _, p := range find(t, resolve(t, s, awsFacts()), CAPI).Providers {
		got = append(got, p.Name+" "+p.Version)
	}
	want := []string{"cluster-api v1.9.4", "kubeadm v1.9.4", "steward v0.3.0", "aws v2.7.2", "proxmox v0.7.2", "in-cluster v1.0.1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReleaseFilesOfAProvider(t *testing.T) {
	p := infrastructureOf(v1alpha1.ProviderNutanix, Lines()[0])
	const release = "https://github.com/nutanix-cloud-native/cluster-api-provider-nutanix/releases/"
	if got, want := p.URL(), release+"v1.5.3/infrastructure-components.yaml"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := p.Download("metadata.yaml"), release+"download/v1.5.3/metadata.yaml"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestKubeletSeesLonghornsDirectory(t *testing.T) {
	if diff := cmp.Diff([]string{"/var/lib/longhorn"}, KubeletMounts(fullExample())); diff != "" {
		t.Error(diff)
	}
	if got := KubeletMounts(minimal()); got != nil {
		t.Errorf("without Longhorn: %v", got)
	}
}

func TestVolumesGoToTheExtraDiskWhereAllNodesHaveOne(t *testing.T) {
	disk := []v1alpha1.DiskSpec{{SizeGB: 100}}
	workers, controlPlanes, workerless := onPrem(v1alpha1.ProviderHarvester), onPrem(v1alpha1.ProviderHarvester), onPrem(v1alpha1.ProviderHarvester)
	workers.Cluster.Workers.ExtraDisks = disk
	controlPlanes.Cluster.ControlPlane.ExtraDisks = disk
	workerless.Cluster.ControlPlane.ExtraDisks, workerless.Cluster.Workers = disk, nil
	for name, c := range map[string]struct {
		spec v1alpha1.ClusterBootstrapSpec
		want string
	}{
		"workers have one":              {workers, extraDisk},
		"only control planes have one":  {controlPlanes, longhornHome},
		"no workers, control planes do": {workerless, extraDisk},
		"no machine has one":            {onPrem(v1alpha1.ProviderHarvester), longhornHome},
		"a single node does":            {singlePool(), extraDisk},
		"workers of a single node are no-one": {func() v1alpha1.ClusterBootstrapSpec {
			s := singleNode()
			s.Cluster.Workers = workers.Cluster.Workers
			return s
		}(), longhornHome},
	} {
		if got := (cluster{ClusterBootstrapSpec: c.spec}).dataPath(); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func TestWarnings(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*v1alpha1.ClusterBootstrapSpec)
		want   []string
	}{
		"nothing to say": {func(*v1alpha1.ClusterBootstrapSpec) {}, nil},
		"a new Kubernetes": {func(s *v1alpha1.ClusterBootstrapSpec) { s.Cluster.KubernetesVersion = "v1.35.0" },
			[]string{"Kubernetes 1.35.0, which these default versions are not documented for: cilium 1.17.0 (Kubernetes 1.29 to 1.32), cert-manager v1.16.2 (Kubernetes 1.25 to 1.32), capi v1.9.4"}},
		"a new Kubernetes, and one new addon": {func(s *v1alpha1.ClusterBootstrapSpec) {
			s.Cluster.KubernetesVersion, s.Addons.CNI.Version = "v1.33.0", "1.18.2"
		}, []string{"documented for: cert-manager"}},
		"an old Kubernetes": {func(s *v1alpha1.ClusterBootstrapSpec) { s.Cluster.KubernetesVersion = "v1.28.4" }, []string{"documented for: cilium 1.17.0 (Kubernetes 1.29 to 1.32);"}},
		"no iSCSI, agent":   {func(s *v1alpha1.ClusterBootstrapSpec) { s.Talos.Schematic = agentSchematic }, []string{"siderolabs/iscsi-tools"}},
		"no iSCSI, plain":   {func(s *v1alpha1.ClusterBootstrapSpec) { s.Talos.Schematic = plainSchematic }, []string{"siderolabs/iscsi-tools"}},
		"too few nodes":     {func(s *v1alpha1.ClusterBootstrapSpec) { s.Cluster.Workers.Replicas = 2 }, []string{"set spec.addons.storage.replicaCount to 2"}},
		"no storage":        {func(s *v1alpha1.ClusterBootstrapSpec) { s.Addons.Storage.Type = none }, []string{"bring a default StorageClass"}},
		"a Gateway for no-one": {func(s *v1alpha1.ClusterBootstrapSpec) {
			*s = gatewayExample()
			s.Talos.Schematic = "x"
			s.Addons.CNI.Type = none
		}, []string{"TLSRoutes"}},
		"no ingress controller": {func(s *v1alpha1.ClusterBootstrapSpec) {
			*s = gatewayExample()
			s.Talos.Schematic = "x"
			s.Addons.Ingress.Type = none
		}, []string{"no ingress controller"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := onPrem(v1alpha1.ProviderHarvester)
			s.Talos.Schematic = "0123"
			c.change(&s)
			kubernetes := "1.32.0"
			if v := s.Cluster.KubernetesVersion; v != "" {
				kubernetes = strings.TrimPrefix(v, "v")
			}
			got := Warnings(s, kubernetes)
			if len(got) != len(c.want) {
				t.Fatalf("got %q, want %q", got, c.want)
			}
			for i := range got {
				if !strings.Contains(got[i], c.want[i]) {
					t.Errorf("got %q, want %q in it", got[i], c.want[i])
				}
			}
		})
	}
}

// The image factory names a schematic by the hash of what it says.
func TestSchematicsAreWhatTheyAreTakenFor(t *testing.T) {
	for id, text := range map[string]string{
		plainSchematic: "customization: {}\n",
		agentSchematic: "customization:\n    systemExtensions:\n        officialExtensions:\n            - siderolabs/qemu-guest-agent\n",
	} {
		if got := fmt.Sprintf("%x", sha256.Sum256([]byte(text))); got != id {
			t.Errorf("%q has the id %s, not %s", text, got, id)
		}
	}
}

func TestConsoleURL(t *testing.T) {
	closed := gatewayExample()
	closed.Addons.Console.Ingress.Enabled = false
	off := gatewayExample()
	off.Addons.Console.Enabled = nil
	for name, c := range map[string]struct {
		spec v1alpha1.ClusterBootstrapSpec
		want string
	}{
		"a host and TLS":       {gatewayExample(), "https://butler.platform.example.com"},
		"neither":              {variants(), "http://butler.butler-mgmt.local"},
		"no ingress":           {closed, ""},
		"no console":           {off, ""},
		"no word of it at all": {onPrem(v1alpha1.ProviderHarvester), ""},
	} {
		if got := ConsoleURL(c.spec); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestLatestIsNeverATag(t *testing.T) {
	s := onPrem(v1alpha1.ProviderHarvester)
	s.Addons.Console.Enabled = new(true)
	was := dump(t, resolve(t, s, facts("10.40.0.200")))
	s.Addons.Console.Version, s.Addons.ButlerController.Version = latest, latest
	if diff := cmp.Diff(was, dump(t, resolve(t, s, facts("10.40.0.200")))); diff != "" {
		t.Error(diff)
	}
}

func TestPodsOfAHostedClusterReachItsAPIServerByNameWithoutKubePrism(t *testing.T) {
	spec := v1alpha1.ClusterBootstrapSpec{Provider: v1alpha1.ProviderAWS}
	spec.Cluster.Name, spec.Network.PodCIDR, spec.Network.ServiceCIDR = "web", "10.244.0.0/16", "10.96.0.0/12"
	facts := Facts{KubernetesVersion: "v1.32.0", Version: "v0.1.0", Hosted: true, Platform: v1alpha1.ProviderConfigSpec{Provider: v1alpha1.ProviderAWS}}
	for at, want := range map[string][2]any{"": {"localhost", 7445}, "web.shop.k8s.example.com:443": {"web.shop.k8s.example.com", 443}} {
		facts.APIServer = at
		all, err := For(spec, facts)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range all {
			switch a.Key {
			case Cilium:
				if got := [2]any{a.Values["k8sServiceHost"], a.Values["k8sServicePort"]}; got != want {
					t.Errorf("%q: Cilium looks at %v", at, got)
				}
			case "aws-cloud-controller-manager":
				if at != "" && !strings.Contains(fmt.Sprint(a.Values["env"]), want[0].(string)) {
					t.Errorf("%q: the cloud controller manager has %v", at, a.Values["env"])
				}
			}
		}
	}
}
