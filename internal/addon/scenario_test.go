// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// scenario is a cluster whose addons are in a golden file.
type scenario struct {
	name  string
	spec  v1alpha1.ClusterBootstrapSpec
	facts Facts
}

func facts(endpoint string) Facts {
	return Facts{Endpoint: endpoint, KubernetesVersion: "v1.32.0", Version: "v0.1.0"}
}

func onPrem(provider v1alpha1.ProviderType) v1alpha1.ClusterBootstrapSpec {
	return v1alpha1.ClusterBootstrapSpec{
		Provider: provider,
		Cluster: v1alpha1.ClusterSpec{
			Name: "butler-mgmt", Topology: v1alpha1.TopologyHA,
			ControlPlane: v1alpha1.NodePool{Replicas: 3, CPU: 4, MemoryMB: 16384, DiskGB: 100},
			Workers:      &v1alpha1.NodePool{Replicas: 3, CPU: 8, MemoryMB: 32768, DiskGB: 200},
		},
		Network: v1alpha1.NetworkSpec{
			PodCIDR: "10.244.0.0/16", ServiceCIDR: "10.96.0.0/12", VIP: "10.40.0.200",
			LoadBalancerPool: &v1alpha1.AddressRange{Start: "10.40.0.210", End: "10.40.0.250"},
		},
		Talos: v1alpha1.TalosSpec{Version: "v1.9.2", Schematic: agentSchematic},
	}
}

// fullExample is the reference's, every default written out.
func fullExample() v1alpha1.ClusterBootstrapSpec {
	s := onPrem(v1alpha1.ProviderHarvester)
	s.Cluster.Workers.ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 500, StorageClass: "longhorn"}}
	s.Network.VIPInterface = "eth0"
	s.Addons = v1alpha1.AddonsSpec{
		CNI:                  v1alpha1.CNIAddonSpec{Type: "cilium", HubbleEnabled: new(true)},
		Storage:              v1alpha1.StorageAddonSpec{Type: "longhorn", ReplicaCount: new(int32(3))},
		LoadBalancer:         v1alpha1.LoadBalancerAddonSpec{Type: "metallb"},
		ControlPlaneHA:       v1alpha1.ControlPlaneHAAddonSpec{Type: "kube-vip"},
		CertManager:          v1alpha1.CertManagerAddonSpec{Enabled: new(true)},
		Ingress:              v1alpha1.IngressAddonSpec{Type: "traefik", Enabled: new(true)},
		ControlPlaneProvider: v1alpha1.ControlPlaneProviderAddonSpec{Type: "steward", Enabled: new(true)},
		CAPI:                 v1alpha1.CAPIAddonSpec{Enabled: new(true), Version: "v1.9.4"},
		ButlerController:     v1alpha1.ButlerControllerAddonSpec{Enabled: new(true)},
		GitOps:               v1alpha1.GitOpsAddonSpec{Type: "flux", Enabled: new(true)},
	}
	s.ControlPlaneExposure = &v1alpha1.ControlPlaneExposureSpec{Mode: v1alpha1.ExposureLoadBalancer}
	return s
}

func singleNode() v1alpha1.ClusterBootstrapSpec {
	s := onPrem(v1alpha1.ProviderHarvester)
	s.Cluster.Name, s.Cluster.Topology = "dev-cluster", v1alpha1.TopologySingleNode
	s.Cluster.ControlPlane.Replicas, s.Cluster.Workers = 1, nil
	s.Network.VIP, s.Network.LoadBalancerPool = "10.40.0.100", nil
	return s
}

func cloud(provider v1alpha1.ProviderType) v1alpha1.ClusterBootstrapSpec {
	s := onPrem(provider)
	s.Cluster.Name = "butler-prod"
	s.Network.VIP, s.Network.LoadBalancerPool = "", nil
	s.Addons.CAPI.InfrastructureProviders = []v1alpha1.CAPIInfraProviderSpec{{Name: provider}}
	return s
}

// gatewayExample is the reference's, on Nutanix.
func gatewayExample() v1alpha1.ClusterBootstrapSpec {
	s := onPrem(v1alpha1.ProviderNutanix)
	s.Network.VIP = "10.0.0.200"
	s.Network.LoadBalancerPool = &v1alpha1.AddressRange{Start: "10.0.0.210", End: "10.0.0.250"}
	s.Addons.Ingress.Type = "traefik"
	s.Addons.Console = v1alpha1.ConsoleAddonSpec{Enabled: new(true), Ingress: &v1alpha1.ConsoleIngressSpec{
		Enabled: true, Host: "butler.platform.example.com", ClassName: "traefik", TLS: true,
	}}
	s.ControlPlaneExposure = &v1alpha1.ControlPlaneExposureSpec{
		Mode: v1alpha1.ExposureGateway, Hostname: "*.k8s.platform.example.com", GatewayRef: "butler-system/tenant-gateway",
	}
	return s
}

// minimal has a network and nothing else.
func minimal() v1alpha1.ClusterBootstrapSpec {
	s := singleNode()
	s.Addons = v1alpha1.AddonsSpec{
		CNI:                  v1alpha1.CNIAddonSpec{HubbleEnabled: new(false)},
		Storage:              v1alpha1.StorageAddonSpec{Type: none},
		LoadBalancer:         v1alpha1.LoadBalancerAddonSpec{Type: none},
		ControlPlaneHA:       v1alpha1.ControlPlaneHAAddonSpec{Type: none},
		CertManager:          v1alpha1.CertManagerAddonSpec{Enabled: new(false)},
		Ingress:              v1alpha1.IngressAddonSpec{Type: none},
		ControlPlaneProvider: v1alpha1.ControlPlaneProviderAddonSpec{Type: none},
		CAPI:                 v1alpha1.CAPIAddonSpec{Enabled: new(false)},
		ButlerController:     v1alpha1.ButlerControllerAddonSpec{Enabled: new(false)},
		GitOps:               v1alpha1.GitOpsAddonSpec{Type: none},
	}
	return s
}

// variants has one of each of the less usual choices.
func variants() v1alpha1.ClusterBootstrapSpec {
	s := onPrem(v1alpha1.ProviderProxmox)
	s.Addons.CNI.HubbleEnabled = new(false)
	s.Addons.Storage.ReplicaCount = new(int32(2))
	s.Addons.Ingress.Type = "nginx"
	s.Addons.ControlPlaneProvider.Type = "kamaji"
	s.Addons.CAPI.InfrastructureProviders = []v1alpha1.CAPIInfraProviderSpec{
		{Name: v1alpha1.ProviderAWS, Version: "2.7.1", CredentialsSecretRef: &v1alpha1.SecretReference{Name: "aws", Namespace: "butler-system"}},
		{Name: v1alpha1.ProviderHarvester},
	}
	s.Addons.Console = v1alpha1.ConsoleAddonSpec{Enabled: new(true), Version: "0.16.2", Ingress: &v1alpha1.ConsoleIngressSpec{Enabled: true}}
	s.ControlPlaneExposure = &v1alpha1.ControlPlaneExposureSpec{
		Mode: v1alpha1.ExposureIngress, Hostname: "*.k8s.example.com", ControllerType: "nginx",
	}
	return s
}

// singlePool is a single node with addresses to give away and a disk for data.
func singlePool() v1alpha1.ClusterBootstrapSpec {
	s := singleNode()
	s.Network.LoadBalancerPool = &v1alpha1.AddressRange{Start: "10.40.0.210", End: "10.40.0.220"}
	s.Cluster.ControlPlane.ExtraDisks = []v1alpha1.DiskSpec{{SizeGB: 100}}
	return s
}

func ipv6() v1alpha1.ClusterBootstrapSpec {
	s := onPrem(v1alpha1.ProviderHarvester)
	s.Network = v1alpha1.NetworkSpec{
		PodCIDR: "fd00:10:244::/56", ServiceCIDR: "fd00:10:96::/112", VIP: "fd00:40::200",
		LoadBalancerPool: &v1alpha1.AddressRange{Start: "fd00:40::210", End: "fd00:40::250"},
	}
	s.Addons.Ingress.Type = "nginx"
	return s
}

func awsFacts() Facts {
	f := facts("butler-prod-lb.elb.eu-central-1.amazonaws.com")
	f.Platform = v1alpha1.ProviderConfigSpec{
		Provider: v1alpha1.ProviderAWS, AWS: &v1alpha1.AWSSpec{Region: "eu-central-1"}, CredentialsRef: &v1alpha1.SecretReference{Name: "aws"},
	}
	return f
}

func azureFacts() Facts {
	f := facts("20.1.2.3")
	f.Platform = v1alpha1.ProviderConfigSpec{
		Provider: v1alpha1.ProviderAzure, CredentialsRef: &v1alpha1.SecretReference{Name: "azure"},
		Azure: &v1alpha1.AzureSpec{
			SubscriptionID: "00000000-0000-0000-0000-000000000001", ResourceGroup: "butler", Location: "westeurope",
			VNetName: "net", SubnetName: "nodes", SecurityGroupName: "nodes",
		},
	}
	return f
}

func gcpFacts() Facts {
	f := facts("34.1.2.3")
	f.Platform = v1alpha1.ProviderConfigSpec{
		Provider: v1alpha1.ProviderGCP, CredentialsRef: &v1alpha1.SecretReference{Name: "gcp"},
		GCP: &v1alpha1.GCPSpec{
			ProjectID: "acme", Region: "europe-west3", Zone: "europe-west3-a", Network: "net", Subnetwork: "nodes", Tags: []string{"butler", "nodes"},
		},
	}
	return f
}

// ambient are facts of a platform without credentials in a Secret.
func ambient(f Facts) Facts {
	f.Platform.CredentialsRef = nil
	return f
}

func scenarios() []scenario {
	return []scenario{
		{"onprem-ha", fullExample(), facts("10.40.0.200")},
		{"onprem-ha-defaults", onPrem(v1alpha1.ProviderHarvester), facts("10.40.0.200")},
		{"single-node", singleNode(), facts("10.40.0.100")},
		{"single-node-pool", singlePool(), facts("10.40.0.100")},
		{"gcp-ha", cloud(v1alpha1.ProviderGCP), gcpFacts()},
		{"gcp-ha-ambient", cloud(v1alpha1.ProviderGCP), ambient(gcpFacts())},
		{"aws-ha", cloud(v1alpha1.ProviderAWS), awsFacts()},
		{"aws-ha-ambient", cloud(v1alpha1.ProviderAWS), ambient(awsFacts())},
		{"azure-ha", cloud(v1alpha1.ProviderAzure), azureFacts()},
		{"azure-ha-ambient", cloud(v1alpha1.ProviderAzure), ambient(azureFacts())},
		{"gateway", gatewayExample(), facts("10.0.0.200")},
		{"minimal", minimal(), facts("10.40.0.100")},
		{"variants", variants(), facts("10.40.0.200")},
		{"ipv6", ipv6(), facts("fd00:40::200")},
	}
}

func resolve(t *testing.T, spec v1alpha1.ClusterBootstrapSpec, f Facts) []Addon {
	t.Helper()
	addons, err := For(spec, f)
	if err != nil {
		t.Fatal(err)
	}
	return addons
}

// find returns the addon with a key, which must be there.
func find(t *testing.T, addons []Addon, key string) Addon {
	t.Helper()
	for _, a := range addons {
		if a.Key == key {
			return a
		}
	}
	t.Fatalf("no addon %s", key)
	return Addon{}
}
