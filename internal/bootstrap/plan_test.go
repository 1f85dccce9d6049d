// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/talos"
)

func spec() v1alpha1.ClusterBootstrapSpec {
	return v1alpha1.ClusterBootstrapSpec{
		Provider: v1alpha1.ProviderHarvester,
		Cluster: v1alpha1.ClusterSpec{
			Name: "dev", Topology: v1alpha1.TopologySingleNode,
			ControlPlane: v1alpha1.NodePool{Replicas: 3, CPU: 4, MemoryMB: 8192, DiskGB: 50},
			Workers:      &v1alpha1.NodePool{Replicas: 2},
		},
		Network: v1alpha1.NetworkSpec{PodCIDR: "10.244.0.0/16", ServiceCIDR: "10.96.0.0/12", VIP: "10.40.0.100"},
		Talos:   v1alpha1.TalosSpec{Version: "v1.9.2", Schematic: "abc"},
	}
}

func ha(provider v1alpha1.ProviderType, vip string) v1alpha1.ClusterBootstrapSpec {
	s := spec()
	s.Cluster.Topology, s.Provider, s.Network.VIP = v1alpha1.TopologyHA, provider, vip
	return s
}

func TestSingleNodeIsOneControlPlaneWhateverThePoolsSay(t *testing.T) {
	plan, err := NewPlan(spec())
	if err != nil {
		t.Fatal(err)
	}
	want := []Machine{{Name: "dev-cp-0", Role: v1alpha1.RoleControlPlane, Pool: spec().Cluster.ControlPlane}}
	if diff := cmp.Diff(want, plan.Machines); diff != "" {
		t.Error(diff)
	}
	if !plan.Talos.ScheduleOnControlPlanes {
		t.Error("nothing can be scheduled on a single node")
	}
	if plan.Talos.KubernetesVersion == "" {
		t.Error("no Kubernetes version")
	}
}

func TestPoolsOfHABecomeMachinesControlPlanesFirst(t *testing.T) {
	s := ha(v1alpha1.ProviderHarvester, "10.40.0.100")
	s.Cluster.Workers = &v1alpha1.NodePool{
		Replicas: 2, CPU: 8, MemoryMB: 32768, DiskGB: 200,
		ExtraDisks: []v1alpha1.DiskSpec{{SizeGB: 500, StorageClass: "longhorn"}}, Labels: map[string]string{"pool": "big"},
	}
	plan, err := NewPlan(s)
	if err != nil {
		t.Fatal(err)
	}
	cp, worker := s.Cluster.ControlPlane, *s.Cluster.Workers
	want := []Machine{
		{"dev-cp-0", v1alpha1.RoleControlPlane, cp}, {"dev-cp-1", v1alpha1.RoleControlPlane, cp}, {"dev-cp-2", v1alpha1.RoleControlPlane, cp},
		{"dev-w-0", v1alpha1.RoleWorker, worker}, {"dev-w-1", v1alpha1.RoleWorker, worker},
	}
	if diff := cmp.Diff(want, plan.Machines); diff != "" {
		t.Error(diff)
	}
}

// TestWhatCarriesTheEndpoint is the table of topologies and providers.
func TestWhatCarriesTheEndpoint(t *testing.T) {
	const address, name = "10.40.0.100", "api.example.com"
	single := func(p v1alpha1.ProviderType, vip string) v1alpha1.ClusterBootstrapSpec {
		s := ha(p, vip)
		s.Cluster.Topology = v1alpha1.TopologySingleNode
		return s
	}
	none := func(s v1alpha1.ClusterBootstrapSpec) v1alpha1.ClusterBootstrapSpec {
		s.Addons.ControlPlaneHA.Type = "none"
		return s
	}
	off := func(s v1alpha1.ClusterBootstrapSpec) v1alpha1.ClusterBootstrapSpec {
		s.Addons.ControlPlaneHA.Enabled = new(false)
		return s
	}
	harvester, gcp := v1alpha1.ProviderHarvester, v1alpha1.ProviderGCP
	for reason, tc := range map[string]struct {
		spec   v1alpha1.ClusterBootstrapSpec
		want   EndpointKind
		shared string
	}{
		"single node, address":         {single(harvester, address), EndpointSharedIP, address},
		"single node, IPv6 address":    {single(harvester, "fd00::1"), EndpointSharedIP, "fd00::1"},
		"single node, name":            {single(harvester, name), EndpointExternal, ""},
		"single node, nothing":         {single(harvester, ""), EndpointNode, ""},
		"single node in a cloud":       {single(gcp, ""), EndpointLoadBalancer, ""},
		"on-prem, address":             {ha(harvester, address), EndpointKubeVIP, ""},
		"on-prem, name":                {ha(v1alpha1.ProviderNutanix, name), EndpointKubeVIP, ""},
		"without kube-vip, address":    {none(ha(v1alpha1.ProviderProxmox, address)), EndpointSharedIP, address},
		"without kube-vip, name":       {none(ha(harvester, name)), EndpointExternal, ""},
		"kube-vip switched off":        {off(ha(harvester, address)), EndpointSharedIP, address},
		"cloud":                        {ha(gcp, ""), EndpointLoadBalancer, ""},
		"cloud with a name of its own": {ha(v1alpha1.ProviderAWS, name), EndpointLoadBalancer, ""},
		"cloud, kube-vip asked for":    {ha(v1alpha1.ProviderAzure, ""), EndpointLoadBalancer, ""},
	} {
		plan, err := NewPlan(tc.spec)
		if err != nil {
			t.Errorf("%s: %v", reason, err)
			continue
		}
		if plan.EndpointKind != tc.want || plan.Talos.SharedIP.Address != tc.shared || plan.Endpoint != tc.spec.Network.VIP {
			t.Errorf("%s: kind %s, shared address %q, endpoint %q", reason, plan.EndpointKind, plan.Talos.SharedIP.Address, plan.Endpoint)
		}
		if is := plan.KubeVIP != (KubeVIP{}); is != (tc.want == EndpointKubeVIP) {
			t.Errorf("%s: kube-vip %+v", reason, plan.KubeVIP)
		}
	}
}

func TestControlPlanesTakeWorkloadsWhereThereAreNoWorkers(t *testing.T) {
	with := ha(v1alpha1.ProviderHarvester, "10.40.0.100")
	without := with
	without.Cluster.Workers = nil
	for _, tc := range []struct {
		spec v1alpha1.ClusterBootstrapSpec
		want bool
	}{{with, false}, {without, true}, {spec(), true}} {
		plan, err := NewPlan(tc.spec)
		if err != nil {
			t.Fatal(err)
		}
		if plan.Talos.ScheduleOnControlPlanes != tc.want {
			t.Errorf("%s with %v workers: %v", tc.spec.Cluster.Topology, tc.spec.Cluster.Workers, plan.Talos.ScheduleOnControlPlanes)
		}
	}
}

func TestNumberOfControlPlanesIsWarnedAbout(t *testing.T) {
	for n, want := range map[int32]string{1: "OneControlPlane", 2: "EvenControlPlanes", 3: "", 4: "EvenControlPlanes", 5: ""} {
		s := ha(v1alpha1.ProviderHarvester, "10.40.0.100")
		s.Cluster.ControlPlane.Replicas = n
		plan, err := NewPlan(s)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		for _, w := range plan.Warnings {
			if w.Reason != "Addons" {
				got += w.Reason
			}
		}
		if got != want || len(plan.Machines) != int(n)+2 {
			t.Errorf("%d: warned of %q, %d machines", n, got, len(plan.Machines))
		}
	}
	s := spec()
	s.Cluster.ControlPlane.Replicas = 2
	if plan, err := NewPlan(s); err != nil || plan.Warnings != nil {
		t.Errorf("single node: %v, %v", plan.Warnings, err)
	}
}

func TestLoadBalancerGetsIntoTheConfigurationOfControlPlanes(t *testing.T) {
	secrets, err := talos.NewSecrets("v1.9.2")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := NewPlan(ha(v1alpha1.ProviderGCP, ""))
	if err != nil {
		t.Fatal(err)
	}
	const loopback, installer = "interface: lo", "/installer/"
	for reason, tc := range map[string]struct {
		balancer string
		machine  Machine
		want     bool
	}{
		"an address is one of the machine's own":   {"203.0.113.9", plan.Machines[0], true},
		"a name is not":                            {"lb.example.com", plan.Machines[0], false},
		"workers do not serve it":                  {"203.0.113.9", plan.Machines[3], false},
		"without a load balancer there is nothing": {"", plan.Machines[0], false},
	} {
		known := v1alpha1.MachineRequestStatus{NodeProviderID: "gce://project/zone/name"}
		config, err := plan.config(secrets, tc.machine, settled{"api.example.com", tc.balancer, true, known, nil, nil, nil})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(config), loopback); got != tc.want {
			t.Errorf("%s: %v", reason, got)
		}
		if tc.balancer != "" && !strings.Contains(string(config), "- "+tc.balancer) {
			t.Errorf("%s: %s is not in the certificates", reason, tc.balancer)
		}
		if !strings.Contains(string(config), "provider-id: gce://project/zone/name") || !strings.Contains(string(config), "externalCloudProvider") {
			t.Errorf("%s: the cloud controller manager would not find the machine", reason)
		}
		if !strings.Contains(string(config), installer) {
			t.Errorf("%s: no installer", reason)
		}
	}
}

func TestDisksAreThoseThatThePlatformReports(t *testing.T) {
	m := Machine{Pool: v1alpha1.NodePool{ExtraDisks: []v1alpha1.DiskSpec{{SizeGB: 10}, {SizeGB: 20}}}}
	reported := []v1alpha1.MachineDisk{{Name: "root", Serial: "r"}, {Name: "disk-2", Serial: "s"}}
	for p, want := range map[v1alpha1.ProviderType][]talos.Disk{
		v1alpha1.ProviderProxmox:   {{Name: "disk-1", SizeGB: 10}, {Name: "disk-2", SizeGB: 20, Serial: "s"}},
		v1alpha1.ProviderHarvester: {{Name: "disk-1", SizeGB: 10}, {Name: "disk-2", SizeGB: 20, Serial: "s", Path: "/dev/disk/by-id/virtio-s"}},
	} {
		if diff := cmp.Diff(want, Plan{Provider: p}.extraDisks(m, reported)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", p, diff)
		}
	}
}

func TestTheDefaultInstallDiskIsLeftOutInACloud(t *testing.T) {
	for reason, tc := range map[string]struct {
		provider   v1alpha1.ProviderType
		disk, want string
	}{
		"on-prem":             {v1alpha1.ProviderHarvester, "/dev/vda", "/dev/vda"},
		"on a SCSI bus":       {v1alpha1.ProviderNutanix, "/dev/vda", "/dev/sda"},
		"another one there":   {v1alpha1.ProviderNutanix, "/dev/sdb", "/dev/sdb"},
		"cloud":               {v1alpha1.ProviderAWS, "/dev/vda", ""},
		"cloud, another disk": {v1alpha1.ProviderAWS, "/dev/nvme0n1", "/dev/nvme0n1"},
	} {
		s := ha(tc.provider, "10.40.0.100")
		s.Talos.InstallDisk = tc.disk
		if plan, err := NewPlan(s); err != nil || plan.Talos.InstallDisk != tc.want {
			t.Errorf("%s: %q, %v", reason, plan.Talos.InstallDisk, err)
		}
	}
}

func TestInstallerIsThatOfTheCloud(t *testing.T) {
	for provider, want := range map[v1alpha1.ProviderType]string{v1alpha1.ProviderHarvester: "", v1alpha1.ProviderAWS: "aws", v1alpha1.ProviderGCP: "gcp", v1alpha1.ProviderAzure: "azure"} {
		plan, err := NewPlan(ha(provider, "10.40.0.100"))
		if err != nil || plan.Talos.Platform != want {
			t.Errorf("%s: %q, %v", provider, plan.Talos.Platform, err)
		}
	}
}

func TestWhatCannotBeHadIsAFailureWithItsReason(t *testing.T) {
	type change = func(*v1alpha1.ClusterBootstrapSpec)
	for name, tc := range map[string]struct {
		change change
		reason string
		says   string
	}{
		"no workers to replace": {func(s *v1alpha1.ClusterBootstrapSpec) { s.Remediation = v1alpha1.RemediationReplaceWorkers }, "RemediationNotSupported", "single node"},
		"unknown Talos":         {func(s *v1alpha1.ClusterBootstrapSpec) { s.Talos.Version = "v9.9.9" }, "InvalidSpec", "newer than"},
		"disks that this Talos does not find": {func(s *v1alpha1.ClusterBootstrapSpec) {
			s.Provider, s.Cluster.ControlPlane.ExtraDisks = v1alpha1.ProviderAWS, []v1alpha1.DiskSpec{{SizeGB: 10}}
		}, "InvalidSpec", "set spec.talos.version to v1.10.0 or later"},
		"addons that do not fit together": {func(s *v1alpha1.ClusterBootstrapSpec) { s.Addons.CertManager.Enabled = new(false) }, "InvalidAddons", "cert-manager"},
		"label of workers":                {func(s *v1alpha1.ClusterBootstrapSpec) { s.Cluster.Workers.Labels = map[string]string{"a b": ""} }, "InvalidSpec", "spec.cluster.workers.labels"},
	} {
		s := spec()
		tc.change(&s)
		_, err := NewPlan(s)
		var failure *Failure
		if !errors.As(err, &failure) || failure.Reason != tc.reason || !strings.Contains(failure.Message, tc.says) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestPatchThatCannotBeAppliedIsFoundBeforeThereAreMachines(t *testing.T) {
	secrets, err := talos.NewSecrets("v1.9.2")
	if err != nil {
		t.Fatal(err)
	}
	s := ha(v1alpha1.ProviderHarvester, "10.40.0.100")
	s.Talos.ConfigPatches = []v1alpha1.TalosConfigPatch{{Op: "remove", Path: "/machine/nothing", Target: v1alpha1.PatchWorker}}
	plan, err := NewPlan(s)
	if err != nil {
		t.Fatal(err)
	}
	var failure *Failure
	if err := plan.check(secrets); !errors.As(err, &failure) || failure.Reason != "InvalidTalosConfig" {
		t.Errorf("got %v", err)
	}
	s.Cluster.Workers = nil
	if plan, err = NewPlan(s); err != nil || plan.check(secrets) != nil {
		t.Errorf("a patch without a target: %v, %v", err, plan.check(secrets))
	}
}

func TestLongNamesAreShortenedAndStayDifferent(t *testing.T) {
	long := strings.Repeat("a", 62)
	one, two := machineName(long+"x", "cp", 0), machineName(long+"y", "cp", 0)
	if len(one) > maxName || one == two || !strings.HasSuffix(one, "-cp-0") {
		t.Errorf("%q and %q", one, two)
	}
	if again := machineName(long+"x", "cp", 0); again != one {
		t.Errorf("not stable: %q, %q", one, again)
	}
	if got := machineName("dev", "w", 2); got != "dev-w-2" {
		t.Errorf("got %q", got)
	}
}

func TestPatchesReachTheirTargets(t *testing.T) {
	s, value := spec(), "8192"
	s.Talos.ConfigPatches = []v1alpha1.TalosConfigPatch{{Op: "add", Path: "/machine/sysctls", Value: &value, Target: v1alpha1.PatchWorker}, {Op: "remove", Path: "/x"}}
	s.Talos.StrategicPatches = []v1alpha1.TalosStrategicPatch{{Patch: "machine: {}", Target: v1alpha1.PatchAll}}
	plan, err := NewPlan(s)
	if err != nil {
		t.Fatal(err)
	}
	wantJSON := []talos.JSONPatch{{Target: talos.TargetWorker, Op: "add", Path: "/machine/sysctls", Value: "8192"}, {Op: "remove", Path: "/x"}}
	wantMerge := []talos.MergePatch{{Target: talos.TargetAll, YAML: "machine: {}"}}
	if diff := cmp.Diff(wantJSON, plan.Talos.JSONPatches) + cmp.Diff(wantMerge, plan.Talos.MergePatches); diff != "" {
		t.Error(diff)
	}
}

func TestWalkEndsAtTheFirstStepThatIsNotFinished(t *testing.T) {
	done := func(context.Context, *Session) (*Obstacle, error) { return nil, nil }
	waits := func(context.Context, *Session) (*Obstacle, error) { return &Obstacle{Reason: "Waiting"}, nil }
	never := func(context.Context, *Session) (*Obstacle, error) {
		t.Error("a step after an unfinished one was taken")
		return nil, nil
	}
	p, err := (&Session{ClusterBootstrap: &v1alpha1.ClusterBootstrap{}}).Walk(t.Context(), []Step{{v1alpha1.BootstrapPending, done}, {v1alpha1.BootstrapConfiguringTalos, waits}, {v1alpha1.BootstrapReady, never}})
	if err != nil || p.Phase != v1alpha1.BootstrapConfiguringTalos || p.Obstacle.Reason != "Waiting" {
		t.Errorf("got %+v, %v", p, err)
	}
	p, err = (&Session{ClusterBootstrap: &v1alpha1.ClusterBootstrap{}}).Walk(t.Context(), []Step{{v1alpha1.BootstrapPending, done}})
	if err != nil || p.Phase != v1alpha1.BootstrapReady || p.Obstacle != nil {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestPhasesOfTheStepsNeverGoBack(t *testing.T) {
	order := map[v1alpha1.ClusterBootstrapPhase]int{
		v1alpha1.BootstrapPending: 0, v1alpha1.BootstrapProvisioningMachines: 1, v1alpha1.BootstrapConfiguringTalos: 2, v1alpha1.BootstrapBootstrappingCluster: 3,
		v1alpha1.BootstrapInstallingAddons: 4, v1alpha1.BootstrapPivoting: 5,
	}
	last := 0
	for _, s := range Steps() {
		at, known := order[s.Phase]
		if !known || at < last {
			t.Errorf("phase %s is in the wrong place", s.Phase)
		}
		last = at
	}
}
