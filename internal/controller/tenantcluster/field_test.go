// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/addon/install"
	"github.com/butlerdotdev/butler/internal/talos"
	"github.com/butlerdotdev/butler/internal/tenant"
)

// plainSession is one that reads nothing: of a cluster with all defaults, on a platform.
func plainSession(provider v1alpha1.ProviderType) *session {
	tc := &v1alpha1.TenantCluster{ObjectMeta: metav1.ObjectMeta{Namespace: v1alpha1.DefaultTenantsNamespace, Name: "shop"}}
	tc.Spec.KubernetesVersion, tc.Spec.Workers.Replicas = "v1.31.0", 3
	tc.Spec.Networking = v1alpha1.TenantNetworkingSpec{PodCIDR: "10.244.0.0/16", ServiceCIDR: "10.96.0.0/12"}
	tc.Spec.Workers.MachineTemplate.OS.Talos = v1alpha1.TenantTalosSpec{Version: "v1.9.2", InstallDisk: "/dev/vda"}
	tc.Status.ControlPlaneEndpoint = "10.0.0.1:6443"
	s := &session{TenantCluster: tc, Reconciler: &Reconciler{Addons: install.New(install.Options{})}}
	s.provider = &v1alpha1.ProviderConfig{Spec: v1alpha1.ProviderConfigSpec{Provider: provider, CredentialsRef: &v1alpha1.SecretReference{Name: "a"}}}
	s.input.Cluster = tc
	s.config, s.input.Endpoint = &v1alpha1.ButlerConfig{}, &tenant.Endpoint{Host: "10.0.0.1", Port: 6443}
	return s
}

// chosen are the addons of a session as key, version and the value of mark.
func chosen(t *testing.T, s *session) map[string]string {
	t.Helper()
	all, err := s.wanted()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, a := range all {
		if a.Values["mark"] != nil && a.Source.Kind != addon.ChartRepository && a.Source.Kind != addon.ChartOCI {
			t.Errorf("%s has values and no chart", a.Key)
		}
		out[a.Key] = fmt.Sprint(strings.TrimPrefix(a.Version, "v"), " ", a.Values["mark"])
	}
	return out
}

func marked(version, mark string) v1alpha1.TenantChartSpec {
	return v1alpha1.TenantChartSpec{Version: version, Values: &runtime.RawExtension{Raw: fmt.Appendf(nil, `{"mark":%q}`, mark)}}
}

// TestAddonsAreThoseOfTheSpec has versions and values of the cluster, and versions of the
// ButlerConfig.
func TestAddonsAreThoseOfTheSpec(t *testing.T) {
	s := plainSession(v1alpha1.ProviderHarvester)
	a := &s.Spec.Addons
	a.CNI.TenantChartSpec, a.CertManager.TenantChartSpec = marked("1.17.1", "c"), marked("1.16.1", "m")
	a.LoadBalancer = &v1alpha1.TenantLoadBalancerSpec{TenantChartSpec: marked("0.14.8", "l")}
	a.Storage = &v1alpha1.TenantStorageSpec{TenantChartSpec: marked("1.7.1", "s")}
	a.Ingress = &v1alpha1.TenantIngressSpec{TenantChartSpec: marked("34.0.1", "t")}
	a.GitOps = &v1alpha1.TenantGitOpsSpec{TenantChartSpec: marked("2.14.1", "f")}
	s.Spec.Networking.LoadBalancerPool = &v1alpha1.AddressRange{Start: "10.0.0.10", End: "10.0.0.20"}
	own := map[string]string{
		addon.Cilium: "1.17.1 c", addon.CertManager: "1.16.1 m", addon.MetalLB: "0.14.8 l", addon.Longhorn: "1.7.1 s", addon.Traefik: "34.0.1 t", addon.Flux: "2.14.1 f",
	}
	s.config.Spec.DefaultAddonVersions = &v1alpha1.DefaultAddonVersions{Cilium: "1.16.9", CertManager: "1.15.9", MetalLB: "0.13.9", Longhorn: "1.6.9", Traefik: "33.0.9", FluxCD: "2.13.9"}
	if diff := cmp.Diff(own, chosen(t, s)); diff != "" {
		t.Errorf("of the cluster: %s", diff)
	}
	for _, c := range []*v1alpha1.TenantChartSpec{&a.CNI.TenantChartSpec, &a.CertManager.TenantChartSpec, &a.LoadBalancer.TenantChartSpec, &a.Storage.TenantChartSpec, &a.Ingress.TenantChartSpec, &a.GitOps.TenantChartSpec} {
		*c = v1alpha1.TenantChartSpec{}
	}
	defaults := map[string]string{
		addon.Cilium: "1.16.9 <nil>", addon.CertManager: "1.15.9 <nil>", addon.MetalLB: "0.13.9 <nil>", addon.Longhorn: "1.6.9 <nil>", addon.Traefik: "33.0.9 <nil>", addon.Flux: "2.13.9 <nil>",
	}
	if diff := cmp.Diff(defaults, chosen(t, s)); diff != "" {
		t.Errorf("of the ButlerConfig: %s", diff)
	}
	a.Ingress.Provider = "nginx"
	if got := chosen(t, s); got[addon.Traefik] != "" || got[addon.IngressNginx] == "" || strings.HasPrefix(got[addon.IngressNginx], "33.0.9") {
		t.Errorf("another ingress controller has the version of Traefik: %v", got)
	}
	a.Ingress.Enabled, a.CertManager.Enabled = new(false), new(false)
	a.LoadBalancer, a.Storage, a.GitOps = nil, nil, nil
	if diff := cmp.Diff(map[string]string{addon.Cilium: "1.16.9 <nil>"}, chosen(t, s)); diff != "" {
		t.Errorf("switched off: %s", diff)
	}
}

func TestACloudControllerIsInstalledWhereTheIdentityOfMachinesSuffices(t *testing.T) {
	for reason, tc := range map[string]struct {
		change func(*session)
		want   bool
	}{
		"a cloud, with the identity of its machines": {func(s *session) { s.provider.Spec.CredentialsRef = nil }, true},
		"it is not wanted": {func(s *session) {
			s.provider.Spec.CredentialsRef, s.Spec.ControlPlane.ExternalCloudProvider = nil, new(false)
		}, false},
		"credentials would be in the tenant": {func(*session) {}, false},
		"on-prem":                            {func(s *session) { s.provider.Spec.Provider = v1alpha1.ProviderProxmox }, false},
	} {
		t.Run(reason, func(t *testing.T) {
			s := plainSession(v1alpha1.ProviderAWS)
			tc.change(s)
			if got := s.cloudController(); got != tc.want || s.hosted().ExternalCloudProvider != tc.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// TestWorkersAreConfiguredAsTheSpecSays reads the machine configuration.
func TestWorkersAreConfiguredAsTheSpecSays(t *testing.T) {
	authority, err := talos.NewAuthority("v1.9.2")
	if err != nil {
		t.Fatal(err)
	}
	const schematic = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for reason, tc := range map[string]struct {
		change func(*session)
		says   []string
	}{
		"the disk":                      {func(s *session) { s.Spec.Workers.MachineTemplate.OS.Talos.InstallDisk = "/dev/sdb" }, []string{"disk: /dev/sdb"}},
		"the schematic and the version": {func(s *session) { s.Spec.Workers.MachineTemplate.OS.SchematicID = schematic }, []string{schematic + ":v1.9.2", "kubelet:v1.31.0"}},
		"the installer": {func(s *session) {
			s.Spec.Workers.MachineTemplate.OS.Talos.InstallerImage = "registry.example.com/installer:v1.9.2"
		}, []string{"registry.example.com/installer:v1.9.2"}},
		"time servers of the cluster": {func(s *session) { s.Spec.TimeServers = []string{"time.cluster.example.com"} }, []string{"time.cluster.example.com"}},
		"time servers of the platform": {func(s *session) {
			s.provider.Spec.Network = &v1alpha1.ProviderNetworkSpec{TimeServers: []string{"time.platform.example.com"}}
		}, []string{"time.platform.example.com"}},
		"time servers of the ButlerConfig": {func(*session) {}, []string{"time.default.example.com"}},
	} {
		t.Run(reason, func(t *testing.T) {
			s := plainSession(v1alpha1.ProviderHarvester)
			s.keys = keys{clusterCA: authority.Certificate, talosCA: authority.Certificate, talosKey: authority.Key, talosToken: authority.Token, token: "aaaaaa.aaaaaaaaaaaaaaaa"}
			s.config.Spec.DefaultTimeServers = []string{"time.default.example.com"}
			tc.change(s)
			data, err := talos.WorkerConfig(s.hosted(), talos.HostedWorker{})
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range tc.says {
				if !strings.Contains(string(data), text) {
					t.Errorf("no %q in\n%s", text, data)
				}
			}
		})
	}
}

func TestTheTenancyModeSaysWhereClustersAre(t *testing.T) {
	for reason, tc := range map[string]struct {
		mode            v1alpha1.TenancyMode
		team, namespace string
		says            string
	}{
		"disabled, in the namespace of all": {v1alpha1.TenancyDisabled, "", "tenants", ""},
		"disabled, elsewhere":               {v1alpha1.TenancyDisabled, "", "elsewhere", "created in namespace tenants (ButlerConfig, defaultNamespace), not in elsewhere"},
		"disabled, of a team":               {v1alpha1.TenancyDisabled, "blue", "blue", "there are no teams"},
		"optional, without a team":          {v1alpha1.TenancyOptional, "", "tenants", ""},
		"optional, elsewhere":               {v1alpha1.TenancyOptional, "", "elsewhere", "created in namespace tenants"},
		"enforced, without a team":          {v1alpha1.TenancyEnforced, "", "tenants", "every tenant cluster belongs to a team"},
	} {
		t.Run(reason, func(t *testing.T) {
			s := plainSession(v1alpha1.ProviderHarvester)
			s.Namespace, s.config.Spec.DefaultNamespace, s.config.Spec.MultiTenancy = tc.namespace, "tenants", &v1alpha1.MultiTenancySpec{Mode: tc.mode}
			if tc.team != "" {
				s.Spec.TeamRef = &v1alpha1.LocalReference{Name: tc.team}
			}
			o, err := s.checkTenancy(t.Context())
			if err != nil || (o != nil) != (tc.says != "") || o != nil && !strings.Contains(o.Message, tc.says) {
				t.Errorf("%v, %v", o, err)
			}
		})
	}
}

// TestTheProviderConfigIsTheFirstThatIsNamed removes one name after another.
func TestTheProviderConfigIsTheFirstThatIsNamed(t *testing.T) {
	s := plainSession(v1alpha1.ProviderHarvester)
	s.Status.ProviderConfigRef = &v1alpha1.NamespacedReference{Namespace: "a", Name: "of-before"}
	s.Spec.ProviderConfigRef = &v1alpha1.TenantProviderReference{Namespace: "b", Name: "of-the-cluster"}
	s.team = &v1alpha1.Team{Spec: v1alpha1.TeamSpec{ProviderConfigRef: &v1alpha1.LocalReference{Name: "of-the-team"}}}
	s.config.Spec.DefaultProviderConfigRef = &v1alpha1.LocalReference{Name: "of-all"}
	for _, step := range []struct {
		want   string
		remove func()
	}{
		{"a/of-before", func() { s.Status.ProviderConfigRef = nil }},
		{"b/of-the-cluster", func() { s.Spec.ProviderConfigRef = nil }},
		{"butler-system/of-the-team", func() { s.team.Spec.ProviderConfigRef = nil }},
		{"butler-system/of-all", func() { s.config = nil }},
		{"/", func() {}},
	} {
		if key, _ := s.providerKey(); key.String() != step.want {
			t.Errorf("got %s, want %s", key, step.want)
		}
		step.remove()
	}
}

// TestEveryLimitCounts has a reservation that breaks one limit after another.
func TestEveryLimitCounts(t *testing.T) {
	q := resource.MustParse
	one := v1alpha1.QuotaReservation{Cluster: "a/one", ProviderConfig: "p", Nodes: 2, CPU: q("4"), Memory: q("8Gi"), Storage: q("80Gi")}
	two := v1alpha1.QuotaReservation{Cluster: "a/two", ProviderConfig: "p", Nodes: 3, CPU: q("6"), Memory: q("12Gi"), Storage: q("120Gi")}
	other := v1alpha1.QuotaReservation{Cluster: "a/other", ProviderConfig: "elsewhere"}
	for want, limits := range map[string]v1alpha1.TeamResourceLimits{
		"":                                      {MaxClusters: new(int32(3)), MaxNodesPerCluster: new(int32(3)), MaxTotalNodes: new(int32(5)), MaxCPUCores: new(q("10")), MaxMemory: new(q("20Gi")), MaxStorage: new(q("200Gi"))},
		"maxClusters is 2, and this would be 3": {MaxClusters: new(int32(2))},
		"maxNodesPerCluster is 2, and this would be 3": {MaxNodesPerCluster: new(int32(2))},
		"maxTotalNodes is 4, and this would be 5":      {MaxTotalNodes: new(int32(4))},
		"maxCPUCores is 9, and this would be 10":       {MaxCPUCores: new(q("9"))},
		"maxMemory is 19Gi, and this would be 20Gi":    {MaxMemory: new(q("19Gi"))},
		"maxStorage is 199Gi, and this would be 200Gi": {MaxStorage: new(q("199Gi"))},
	} {
		if got := exceeded([]v1alpha1.QuotaReservation{one, other, two}, limits, &v1alpha1.ProviderConfig{}, two, 0); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for want, limits := range map[string]v1alpha1.ProviderLimits{
		"": {MaxClustersPerTeam: new(int32(2)), MaxNodesPerTeam: new(int32(5))},
		"limits.maxClustersPerTeam of ProviderConfig p is 1, and this would be 2": {MaxClustersPerTeam: new(int32(1))},
		"limits.maxNodesPerTeam of ProviderConfig p is 4, and this would be 5":    {MaxNodesPerTeam: new(int32(4))},
	} {
		p := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: v1alpha1.ProviderConfigSpec{Limits: &limits}}
		if got := exceeded([]v1alpha1.QuotaReservation{one, other, two}, v1alpha1.TeamResourceLimits{}, p, two, 0); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestALimitThatATeamLeavesOutIsThatOfTheButlerConfig(t *testing.T) {
	config := &v1alpha1.ButlerConfig{}
	config.Spec.DefaultTeamLimits = &v1alpha1.DefaultTeamLimits{
		MaxClusters: new(int32(1)), MaxWorkersPerCluster: new(int32(2)), MaxTotalCPU: new(resource.MustParse("3")),
		MaxTotalMemory: new(resource.MustParse("4Gi")), MaxTotalStorage: new(resource.MustParse("5Gi")),
	}
	want := v1alpha1.TeamResourceLimits{
		MaxClusters: new(int32(1)), MaxNodesPerCluster: new(int32(2)), MaxCPUCores: new(resource.MustParse("3")),
		MaxMemory: new(resource.MustParse("4Gi")), MaxStorage: new(resource.MustParse("5Gi")),
	}
	if diff := cmp.Diff(want, Limits(&v1alpha1.Team{}, config)); diff != "" {
		t.Error(diff)
	}
	team := &v1alpha1.Team{}
	team.Spec.ResourceLimits = &v1alpha1.TeamResourceLimits{
		MaxClusters: new(int32(11)), MaxNodesPerCluster: new(int32(12)), MaxCPUCores: new(resource.MustParse("13")), MaxMemory: new(resource.MustParse("14Gi")), MaxStorage: new(resource.MustParse("15Gi")),
	}
	if diff := cmp.Diff(*team.Spec.ResourceLimits, Limits(team, config)); diff != "" {
		t.Error(diff)
	}
}

// TestARefusedGrowthKeepsWhatIsHeld lowers number and size of workers to a reservation.
func TestARefusedGrowthKeepsWhatIsHeld(t *testing.T) {
	q := resource.MustParse
	held := v1alpha1.QuotaReservation{Nodes: 4, CPU: q("8"), Memory: q("16Gi"), Storage: q("160Gi")}
	size := func(cpu int32, memory, disk string) v1alpha1.TenantMachineTemplateSpec {
		return v1alpha1.TenantMachineTemplateSpec{CPU: cpu, Memory: q(memory), DiskSize: q(disk)}
	}
	for reason, tc := range map[string]struct{ is, want v1alpha1.TenantWorkersSpec }{
		"more workers":       {v1alpha1.TenantWorkersSpec{Replicas: 5, MachineTemplate: size(2, "4Gi", "40Gi")}, v1alpha1.TenantWorkersSpec{Replicas: 4, MachineTemplate: size(2, "4Gi", "40Gi")}},
		"larger workers":     {v1alpha1.TenantWorkersSpec{Replicas: 4, MachineTemplate: size(4, "8Gi", "80Gi")}, v1alpha1.TenantWorkersSpec{Replicas: 4, MachineTemplate: size(2, "4Gi", "40Gi")}},
		"fewer, larger":      {v1alpha1.TenantWorkersSpec{Replicas: 2, MachineTemplate: size(4, "2Gi", "40Gi")}, v1alpha1.TenantWorkersSpec{Replicas: 2, MachineTemplate: size(2, "2Gi", "40Gi")}},
		"bounds":             {v1alpha1.TenantWorkersSpec{Replicas: 5, MinReplicas: 5, MaxReplicas: 9, MachineTemplate: size(2, "4Gi", "40Gi")}, v1alpha1.TenantWorkersSpec{Replicas: 4, MinReplicas: 4, MaxReplicas: 4, MachineTemplate: size(2, "4Gi", "40Gi")}},
		"nothing is refused": {v1alpha1.TenantWorkersSpec{Replicas: 3, MachineTemplate: size(1, "2Gi", "20Gi")}, v1alpha1.TenantWorkersSpec{Replicas: 3, MachineTemplate: size(1, "2Gi", "20Gi")}},
	} {
		got := tc.is
		limit(&got, held)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", reason, diff)
		}
	}
}
