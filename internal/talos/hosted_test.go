// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
)

func hostedFixture(t *testing.T) (Hosted, Authority) {
	t.Helper()
	a, err := NewAuthority("v1.9.3")
	if err != nil {
		t.Fatal(err)
	}
	return Hosted{
		Name: "web", Endpoint: "10.40.0.210:6443", TalosVersion: "v1.9.3", KubernetesVersion: "v1.31.0", Schematic: "abc", InstallDisk: "/dev/vda",
		PodCIDR: "10.244.0.0/16", ServiceCIDR: "10.96.0.0/12", TimeServers: []string{"time.example.com"},
		Keys: HostedKeys{TalosCA: a.Certificate, TalosToken: "butler.0123", ClusterCA: a.Certificate, BootstrapToken: "abcdef.0123456789abcdef"},
	}, a
}

// TestAWorkerOfAHostedControlPlaneHasNoKeys reads back what a worker gets.
func TestAWorkerOfAHostedControlPlaneHasNoKeys(t *testing.T) {
	h, a := hostedFixture(t)
	data, err := WorkerConfig(h, HostedWorker{Name: "web-0", ProviderID: "kubevirt://web-0"})
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := configloader.NewFromBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	doc := cfg.RawV1Alpha1()
	m, c := doc.MachineConfig, doc.ClusterConfig
	if m.Type().String() != "worker" || len(m.MachineCA.Key) > 0 || len(c.ClusterCA.Key) > 0 || bytes.Contains(data, []byte(strings.TrimSpace(string(a.Key)))) {
		t.Error("the worker has a key of an authority")
	}
	if got := c.Endpoint().String(); got != "https://10.40.0.210:6443" {
		t.Errorf("endpoint %s", got)
	}
	if got := m.MachineKubelet.KubeletClusterDNS; !slices.Equal(got, []string{"10.96.0.10"}) {
		t.Errorf("DNS %v", got)
	}
	if c.Token().ID()+"."+c.Token().Secret() != h.Keys.BootstrapToken || c.Discovery().Enabled() || !m.Features().KubePrism().Enabled() {
		t.Error("token, discovery or KubePrism")
	}
	if !bytes.Contains(data, []byte("web-0")) || !slices.Equal(cfg.NetworkTimeSyncConfig().Servers(), h.TimeServers) {
		t.Error("host name or time servers")
	}
	shared, err := WorkerConfig(h, HostedWorker{})
	if err != nil || bytes.Contains(shared, []byte("web-0")) || bytes.Contains(shared, []byte("provider-id")) {
		t.Errorf("a shared configuration has a name: %v", err)
	}
}

func TestAKubernetesThatTalosDoesNotRunIsRefused(t *testing.T) {
	h, _ := hostedFixture(t)
	h.KubernetesVersion = "v1.33.0"
	if _, err := WorkerConfig(h, HostedWorker{}); err == nil || !strings.Contains(err.Error(), "too new") {
		t.Errorf("%v", err)
	}
}

// TestATalosconfigIsSignedForAWhile signs with the authority of a control plane provider.
func TestATalosconfigIsSignedForAWhile(t *testing.T) {
	_, a := hostedFixture(t)
	data, err := HostedTalosconfig("web", a.Certificate, a.Key, []string{"10.40.0.30"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	is, err := ReadTalosconfig(data)
	if err != nil {
		t.Fatal(err)
	}
	if left := time.Until(is.Expires); left <= 0 || left > time.Hour || !slices.Equal(is.Nodes, []string{"10.40.0.30"}) || !slices.Equal(is.Certificate.Subject.Organization, []string{"os:admin"}) {
		t.Errorf("%v left, nodes %v, roles %v", left, is.Nodes, is.Certificate.Subject.Organization)
	}
}

func TestAWorkerBehindAHostnameResolvesItItself(t *testing.T) {
	for _, version := range []string{"v1.9.3", "v1.12.0"} {
		h, _ := hostedFixture(t)
		h.TalosVersion, h.KubernetesVersion = version, "v1.32.0"
		h.Endpoint, h.WithoutKubePrism = "web.payments.k8s.example.com:443", true
		h.HostEntries = []HostEntry{{"10.40.0.200", []string{"web.payments.k8s.example.com", "web.payments.konnectivity.example.com"}}}
		data, err := WorkerConfig(h, HostedWorker{})
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := configloader.NewFromBytes(data)
		if err != nil {
			t.Fatal(err)
		}
		if cfg.Machine().Features().KubePrism().Enabled() {
			t.Errorf("%s: KubePrism is on", version)
		}
		if got := cfg.Cluster().Endpoint().Host; got != h.Endpoint {
			t.Errorf("%s: endpoint %s", version, got)
		}
		for _, want := range []string{"ip: 10.40.0.200", "- web.payments.k8s.example.com", "- web.payments.konnectivity.example.com"} {
			if !strings.Contains(string(data), want) {
				t.Errorf("%s: no %q in\n%s", version, want, data)
			}
		}
	}
}
