// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/config/encoder"
)

var update = flag.Bool("update", false, "rewrite the golden files (and the test secrets if they are missing)")

const testSchematic = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515"

// testSecrets is a bundle made for these tests alone; it protects nothing.
func testSecrets(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join("testdata", "secrets-for-tests-only.yaml")
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) && *update {
		if data, err = NewSecrets("v1.9.2"); err == nil {
			err = os.WriteFile(path, data, 0o644)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func testCluster(version string) Cluster {
	return Cluster{
		Name:         "dev-cluster",
		Endpoint:     "10.40.0.100",
		TalosVersion: version,
		Schematic:    testSchematic,
		PodCIDR:      "10.244.0.0/16",
		ServiceCIDR:  "10.96.0.0/12",
	}
}

func controlPlane() Node { return Node{Name: "dev-cluster-cp-0", Role: ControlPlane} }

func TestConfigGolden(t *testing.T) {
	single := func(version string) Cluster {
		c := testCluster(version)
		c.ScheduleOnControlPlanes = true
		c.SharedIP = SharedIP{Address: "10.40.0.100"}
		c.KubeletMounts = []string{"/var/lib/longhorn"}
		return c
	}
	full := func(version string) Cluster {
		c := testCluster(version)
		c.Platform = "nocloud"
		c.InstallDisk = "/dev/sda"
		c.CNI = CNINone
		c.CertSANs = []string{"api.example.com"}
		c.SharedIP = SharedIP{Address: "10.40.0.100", Interface: "eth0"}
		c.JSONPatches = []JSONPatch{{Op: "add", Path: "/machine/time", Value: "servers: [time.example.com]"}}
		c.MergePatches = []MergePatch{{Target: TargetWorker, YAML: "machine:\n  sysctls:\n    vm.max_map_count: \"262144\"\n"}}
		return c
	}
	cloud := func(version string) Cluster {
		c := testCluster(version)
		c.Platform = "gcp"
		c.Endpoint = "api.example.com"
		c.LoopbackAddress = "203.0.113.10"
		c.CertSANs = []string{"203.0.113.10"}
		c.ExternalCloudProvider = true
		return c
	}
	known := controlPlane()
	known.ProviderID, known.Loopback = "gce://project/zone/dev-cluster-cp-0", true
	worker := Node{
		Name:       "dev-cluster-worker-0",
		Role:       Worker,
		Labels:     map[string]string{"example.com/pool": "storage", "node-role.kubernetes.io/worker": ""},
		ExtraDisks: []Disk{{Name: "disk-1", SizeGB: 500, Serial: "disk-1", Path: "/dev/disk/by-id/virtio-disk-1"}},
	}
	for name, tc := range map[string]struct {
		cluster func(version string) Cluster
		node    Node
	}{
		"single-node":         {single, controlPlane()},
		"control-plane":       {full, controlPlane()},
		"ha-control-plane":    {testCluster, controlPlane()},
		"ha-worker":           {full, worker},
		"cloud-control-plane": {cloud, known},
	} {
		for _, version := range []string{"v1.7.6", "v1.9.2", "v1.11.0", "v1.12.0", "v1.13.0"} {
			t.Run(name+"-"+version, func(t *testing.T) {
				data, err := Config(testSecrets(t), tc.cluster(version), tc.node)
				if err != nil {
					t.Fatal(err)
				}
				cfg := load(t, data)
				if got := cfg.NetworkHostnameConfig().Hostname(); got != tc.node.Name {
					t.Errorf("host name %q, want %q", got, tc.node.Name)
				}
				if warnings, err := cfg.Validate(mode{cloud: tc.cluster(version).Platform == "gcp"}); err != nil || len(warnings) > 0 {
					t.Errorf("machinery says %v, %v", warnings, err)
				}
				golden(t, name+"-"+version+".yaml", redacted(t, data))
			})
		}
	}
}

func TestLoopbackAddressIsForControlPlanesAndKeepsDHCP(t *testing.T) {
	for _, version := range []string{"v1.9.2", "v1.12.0", "v1.13.0"} {
		for address, want := range map[string]string{"203.0.113.10": "203.0.113.10/32", "2001:db8::10": "2001:db8::10/128"} {
			c := testCluster(version)
			c.LoopbackAddress = address
			if got := interfaces(t, c, Node{Role: Worker, Loopback: true}); len(got) != 0 {
				t.Errorf("%s: a worker has %v", version, got)
			}
			if got := interfaces(t, c, Node{Role: ControlPlane}); len(got) != 0 {
				t.Errorf("%s: a control plane that is to join has %v", version, got)
			}
			if got := interfaces(t, c, Node{Role: ControlPlane, Loopback: true}); !cmp.Equal(got, map[string][]string{"lo": {want}}) {
				t.Errorf("%s: a control plane has %v", version, got)
			}
		}
	}
}

// TestLoopbackAddressIsNotThatOfTheNode guards against members of etcd that are all at the
// address of the load balancer. It holds before a node has the address too: what changes
// later is the address alone.
func TestLoopbackAddressIsNotThatOfTheNode(t *testing.T) {
	for address, want := range map[string][]string{
		"203.0.113.10": {"0.0.0.0/0", "!203.0.113.10/32"}, "2001:db8::10": {"::/0", "!2001:db8::10/128"}, "": nil,
	} {
		for _, loopback := range []bool{true, false} {
			c := testCluster("v1.12.0")
			c.LoopbackAddress = address
			data, err := Config(testSecrets(t), c, Node{Name: "n", Role: ControlPlane, Loopback: loopback})
			if err != nil {
				t.Fatal(err)
			}
			cfg := load(t, data)
			if got := cfg.Cluster().Etcd().AdvertisedSubnets(); !cmp.Equal(got, want) {
				t.Errorf("%q: etcd is at %v, want %v", address, got, want)
			}
			if got := cfg.Machine().Kubelet().NodeIP().ValidSubnets(); !cmp.Equal(got, want) {
				t.Errorf("%q: the kubelet is at %v, want %v", address, got, want)
			}
		}
	}
}

// interfaces are those that the configuration names, with their addresses.
func interfaces(t *testing.T, c Cluster, n Node) map[string][]string {
	t.Helper()
	n.Name = "n"
	data, err := Config(testSecrets(t), c, n)
	if err != nil {
		t.Fatal(err)
	}
	cfg := load(t, data)
	if !cfg.RunDefaultDHCPOperators() {
		t.Error("no interface would ask for an address any more")
	}
	found := map[string][]string{}
	for _, device := range cfg.Machine().Network().Devices() {
		found[device.Interface()] = device.Addresses()
	}
	return found
}

// redacted keeps key material out of the golden files; TestConfigSecrets
// checks that it is in the configuration.
func redacted(t *testing.T, data []byte) []byte {
	t.Helper()
	out, err := load(t, data).RedactSecrets("REDACTED").EncodeBytes(encoder.WithComments(encoder.CommentsDisabled))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func load(t *testing.T, data []byte) config.Provider {
	t.Helper()
	cfg, err := configloader.NewFromBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got), rerun with -update if intended:\n%s", path, diff)
	}
}

func TestConfigSecrets(t *testing.T) {
	secrets := testSecrets(t)
	bundle, err := parseSecrets(secrets)
	if err != nil {
		t.Fatal(err)
	}
	data, err := Config(secrets, testCluster("v1.13.0"), controlPlane())
	if err != nil {
		t.Fatal(err)
	}
	cfg := load(t, data)
	if !bytes.Equal(cfg.Machine().Security().IssuingCA().Key, bundle.Certs.OS.Key) {
		t.Error("the talos CA of the configuration is not the one of the bundle")
	}
	if !bytes.Equal(cfg.Cluster().IssuingCA().Key, bundle.Certs.K8s.Key) {
		t.Error("the kubernetes CA of the configuration is not the one of the bundle")
	}
	if got := cfg.Cluster().ID(); got != bundle.Cluster.ID {
		t.Errorf("cluster id %q, want that of the bundle", got)
	}
}

func TestConfigIsDeterministic(t *testing.T) {
	c := testCluster("v1.13.0")
	c.JSONPatches = []JSONPatch{{Op: "add", Path: "/machine/sysctls", Value: "{b: '2', a: '1'}"}}
	n := controlPlane()
	n.Labels = map[string]string{"a": "1", "b": "2", "c": "3"}
	first, err := Config(testSecrets(t), c, n)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		again, err := Config(testSecrets(t), c, n)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, again) {
			t.Fatal("the same input gave other bytes")
		}
	}
}

func TestConfigRefuses(t *testing.T) {
	for reason, tc := range map[string]struct {
		change func(*Cluster, *Node)
		want   string
	}{
		"talos newer than machinery":   {func(c *Cluster, _ *Node) { c.TalosVersion = "v1.14.0" }, "newer than v1.13"},
		"talos too old":                {func(c *Cluster, _ *Node) { c.TalosVersion = "v1.6.8" }, "older than v1.7"},
		"not a version":                {func(c *Cluster, _ *Node) { c.TalosVersion = "latest" }, "want a version"},
		"kubernetes too new for talos": {func(c *Cluster, _ *Node) { c.KubernetesVersion = "v1.36.0" }, "too new"},
		"kubernetes too old for talos": {func(c *Cluster, _ *Node) { c.KubernetesVersion = "1.20.0" }, "too old"},
		"no schematic":                 {func(c *Cluster, _ *Node) { c.Schematic = "" }, "schematic is missing"},
		"no endpoint":                  {func(c *Cluster, _ *Node) { c.Endpoint = "" }, "no endpoint"},
		"unknown role":                 {func(_ *Cluster, n *Node) { n.Role = "master" }, "unknown role"},
		"no host name":                 {func(_ *Cluster, n *Node) { n.Name = "" }, "host name is missing"},
		"shared IP is a name":          {func(c *Cluster, _ *Node) { c.SharedIP.Address = "api.example.com" }, "not an address"},
		"loopback address is a name":   {func(c *Cluster, _ *Node) { c.LoopbackAddress = "api.example.com" }, "not an address"},
		"patch of a missing path":      {func(c *Cluster, _ *Node) { c.JSONPatches = []JSONPatch{{Op: "remove", Path: "/machine/nothing"}} }, "config patch 0 (remove /machine/nothing)"},
		"patch without value":          {func(c *Cluster, _ *Node) { c.JSONPatches = []JSONPatch{{Op: "add", Path: "/machine/time"}} }, "value is missing"},
		"patch with unknown operation": {func(c *Cluster, _ *Node) { c.JSONPatches = []JSONPatch{{Op: "move", Path: "/machine/time"}} }, "unknown operation"},
		"patch that talos does not know": {func(c *Cluster, _ *Node) {
			c.JSONPatches = []JSONPatch{{Op: "add", Path: "/machine/nothing", Value: "1"}}
		}, "nothing"},
		"patch that fails validation": {func(c *Cluster, _ *Node) {
			c.JSONPatches = []JSONPatch{{Op: "replace", Path: "/machine/type", Value: "router"}}
		}, "unknown machine type"},
		"disk without a path": {func(_ *Cluster, n *Node) { n.ExtraDisks = []Disk{{Name: "disk-1", SizeGB: 500}} }, "use Talos 1.10 or later"},
		"merge patch that is none": {func(c *Cluster, _ *Node) {
			c.MergePatches = []MergePatch{{YAML: `[{"op":"remove","path":"/machine"}]`}}
		}, "not a strategic merge patch"},
	} {
		t.Run(reason, func(t *testing.T) {
			c, n := testCluster("v1.9.2"), controlPlane()
			tc.change(&c, &n)
			_, err := Config(testSecrets(t), c, n)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestErrorsDoNotQuotePatches(t *testing.T) {
	const secret = "a-secret"
	for reason, tc := range map[string]struct {
		change func(*Cluster)
		want   string
	}{
		"merge patch of another type": {func(c *Cluster) {
			c.MergePatches = []MergePatch{{YAML: "machine: {registries: {config: {x: {auth: " + secret + "}}}}"}}
		}, "merge patch 0"},
		"unknown keys": {func(c *Cluster) {
			c.MergePatches = []MergePatch{{YAML: "machine:\n  login:\n    name: x\n    passwords: [" + secret + "]\n"}}
		}, "unknown keys: machine.login.name, machine.login.passwords"},
		"a URL that cannot be parsed": {func(c *Cluster) {
			c.MergePatches = []MergePatch{{YAML: "machine: {logging: {destinations: [{endpoint: 'tcp://u:" + secret + "@h:x', format: json_lines}]}}"}}
		}, "parse a value"},
		"JSON patch of another type": {func(c *Cluster) {
			c.JSONPatches = []JSONPatch{{Op: "replace", Path: "/cluster/ca", Value: secret}}
		}, "config patch 0 (replace /cluster/ca)"},
		"JSON patch with an unknown key": {func(c *Cluster) {
			c.JSONPatches = []JSONPatch{{Op: "add", Path: "/machine/login", Value: secret}}
		}, "unknown keys: machine.login"},
	} {
		c := testCluster("v1.12.0")
		tc.change(&c)
		_, err := Config(testSecrets(t), c, controlPlane())
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: got %v, want one with %q", reason, err, tc.want)
		}
	}
}

// TestDiscoveryCanBeSwitchedOff is about the patch that the reference page shows.
func TestDiscoveryCanBeSwitchedOff(t *testing.T) {
	for _, version := range []string{"v1.7.6", "v1.13.0"} {
		for patch, want := range map[string]bool{"": true, "cluster:\n  discovery: {enabled: false}\n": false} {
			c := testCluster(version)
			if patch != "" {
				c.MergePatches = []MergePatch{{YAML: patch}}
			}
			data, err := Config(testSecrets(t), c, controlPlane())
			if err != nil {
				t.Fatal(err)
			}
			if got := load(t, data).Cluster().Discovery().Enabled(); got != want {
				t.Errorf("%s with %q: %t", version, patch, got)
			}
		}
	}
}

func TestPatchTargets(t *testing.T) {
	c := testCluster("v1.12.0")
	c.JSONPatches = []JSONPatch{
		{Target: TargetControlPlane, Op: "add", Path: "/machine/sysctls", Value: `{kernel.pid_max: "1"}`},
		{Target: TargetAll, Op: "add", Path: "/machine/env", Value: "{all: yes it is}"},
	}
	c.MergePatches = []MergePatch{{Target: TargetWorker, YAML: "machine:\n  sysctls:\n    kernel.pid_max: \"2\"\n"}}
	for role, want := range map[Role]string{ControlPlane: "1", Worker: "2"} {
		data, err := Config(testSecrets(t), c, Node{Name: "n", Role: role})
		if err != nil {
			t.Fatal(err)
		}
		cfg := load(t, data)
		if got := cfg.Machine().Sysctls()["kernel.pid_max"]; got != want {
			t.Errorf("%s: kernel.pid_max = %q, want %q", role, got, want)
		}
		if got := cfg.NetworkHostnameConfig().Hostname(); got != "n" {
			t.Errorf("%s: host name %q did not survive the patches", role, got)
		}
	}
}

func TestKubernetesVersionDefaults(t *testing.T) {
	for talos, want := range map[string]string{
		"v1.7.6": "1.30.0", "v1.8.4": "1.31.0", "v1.9.2": "1.32.0", "v1.10.0": "1.33.0", "v1.11.5": "1.34.0", "v1.12.0": "1.35.0", "v1.13.9": "1.36.0",
	} {
		got, err := KubernetesVersion(talos, "")
		if _, err := Config(testSecrets(t), testCluster(talos), controlPlane()); err != nil {
			t.Errorf("talos %s: %v", talos, err)
		}
		if err != nil || got != want {
			t.Errorf("talos %s: kubernetes %q, %v; want %s", talos, got, err, want)
		}
	}
	if got, err := KubernetesVersion("v1.9.2", "v1.31.4"); err != nil || got != "1.31.4" {
		t.Errorf("requested v1.31.4: got %q, %v", got, err)
	}
}

func TestSplitLabels(t *testing.T) {
	for key, own := range map[string]bool{
		"pool":                                   true,
		"example.com/pool":                       true,
		"notkubernetes.io/x":                     true,
		"node.kubernetes.io/instance-type":       true,
		"sub.node.kubernetes.io/x":               true,
		"kubelet.kubernetes.io/x":                true,
		"topology.kubernetes.io/zone":            true,
		"kubernetes.io/hostname":                 true,
		"topology.kubernetes.io/rack":            false,
		"node-role.kubernetes.io/worker":         false,
		"node-restriction.kubernetes.io/secured": false,
		"kubernetes.io/other":                    false,
		"x.k8s.io/y":                             false,
	} {
		mine, restricted := SplitLabels(map[string]string{key: "v"})
		if (len(mine) == 1) != own || len(mine)+len(restricted) != 1 {
			t.Errorf("%s: own %v, restricted %v", key, slices.Collect(maps.Keys(mine)), slices.Collect(maps.Keys(restricted)))
		}
	}
}

func TestADiskIsFoundByWhatItIs(t *testing.T) {
	for want, disk := range map[string]Disk{
		`disk.serial == "vol0002"`: {Name: "disk-1", SizeGB: 500, Serial: "vol0002"},
		`!system_disk && disk.size >= 500u * GiB && disk.size < 501u * GiB`: {Name: "disk-1", SizeGB: 500},
	} {
		data, err := Config(testSecrets(t), testCluster("v1.12.0"), Node{Name: "n", Role: Worker, ExtraDisks: []Disk{disk}})
		if err != nil {
			t.Fatal(err)
		}
		match, _ := load(t, data).UserVolumeConfigs()[0].Provisioning().DiskSelector().Get()
		got, err := match.MarshalText()
		if err != nil || string(got) != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}
