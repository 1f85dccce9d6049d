// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"context"
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/registry"
)

func TestArtifactsAreAllThatIsFetched(t *testing.T) {
	got := Artifacts([]addon.Addon{
		{Key: "a", Version: "1", Source: addon.Source{Kind: addon.ChartRepository, URL: "https://a.example.com", Chart: "ay"}},
		{Key: "b", Version: "2", Source: addon.Source{Kind: addon.ChartOCI, URL: "oci://b.example.com/bee", Chart: "bee"}},
		{Key: "c", Version: "v3", Source: addon.Source{Kind: addon.Manifest, URL: "https://c.example.com/%s/install.yaml"}},
		{Key: "d", Version: "v4", Source: addon.Source{Kind: addon.Components}, Providers: []addon.Provider{
			{Name: "core", Version: "v4", Repository: "o/core", File: "core.yaml"}, {Name: "infra", Version: "v5", Repository: "o/infra", File: "infra.yaml"},
		}},
		{Key: "e", Version: "5", Source: addon.Source{Kind: addon.ChartCarried, Chart: "e"}},
		{Key: "f", Version: "6", Source: addon.Source{Kind: addon.Objects}},
	})
	want := []registry.Artifact{
		{Addon: "a", Kind: registry.Chart, URL: "https://a.example.com", Name: "ay", Version: "1"},
		{Addon: "b", Kind: registry.Chart, URL: "oci://b.example.com/bee", Name: "bee", Version: "2"},
		{Addon: "c", Kind: registry.Manifest, URL: "https://c.example.com/v3/install.yaml", Version: "v3"},
		{Addon: "d", Kind: registry.Provider, URL: "https://github.com/o/core/releases/download/v4/core.yaml", Version: "v4"},
		{Addon: "d", Kind: registry.Provider, URL: "https://github.com/o/infra/releases/download/v5/infra.yaml", Version: "v5"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestOnlyAPlaceThatTheUserNamesIsReachedForReal: everything else of a rehearsal
// stays on the simulated network.
func TestOnlyAPlaceThatTheUserNamesIsReachedForReal(t *testing.T) {
	for where, want := range map[string]bool{"": false, "./charts": false, "upstream": true, "oci://registry.example.com/x": true} {
		if got := isRemote(where); got != want {
			t.Errorf("%q: %t", where, got)
		}
	}
}

func TestStandInsAreServedWithAnAuthorityOfTheirOwn(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	// Names resolve as the simulated network says, whatever the environment says.
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	var dialled []string
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		dialled = append(dialled, addr)
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	get := func(ca string) error {
		c, err := NewSimulatedHTTP(dial, ca)
		if err != nil {
			return err
		}
		defer c.CloseIdleConnections()
		r, err := c.Get("https://example.com/index.yaml")
		if err != nil {
			return err
		}
		return r.Body.Close()
	}
	if err := get(ca); err != nil || len(dialled) != 1 || dialled[0] != "example.com:443" {
		t.Errorf("%v, dialled %v", err, dialled)
	}
	if err := get(""); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate of another authority: %v", err)
	}
	if err := get(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no authority: %v", err)
	}
}

func TestFaultsThatNoStandInHasAreReported(t *testing.T) {
	plan, err := fault.Parse([]byte("faults: [{kind: chartUnavailable, addon: cilium}, {kind: addonNotReady, addon: celium}, {kind: hookFails, addon: cilium}]"))
	if err != nil {
		t.Fatal(err)
	}
	s := sim.Setup{Faults: plan, Seed: sim.Seed{Artifacts: []registry.Artifact{
		{Addon: "cilium", Kind: registry.Chart, URL: "https://helm.cilium.io/", Name: "cilium", Version: "1.17.0"},
		{Addon: "flux", Kind: registry.Chart, URL: "https://fluxcd-community.github.io/helm-charts", Name: "flux2", Version: "2.14.1"},
	}}}
	if got := IdleFaults(s); len(got) != 2 || !strings.Contains(got[0], `"celium"; there are cilium, flux`) || !strings.Contains(got[1], `there are flux`) {
		t.Errorf("reported %q", got)
	}
	s.Seed.Artifacts = nil
	if got := IdleFaults(s); len(got) != 3 {
		t.Errorf("with the real charts reported %q", got)
	}
}

func TestTheClusterGetsTheSourceOfItsAddons(t *testing.T) {
	d := &appsv1.Deployment{}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Args: []string{"--leader-elect"}}}
	if got := chartsOf(d); got != "upstream" {
		t.Errorf("without the argument from %s", got)
	}
	d.Spec.Template.Spec.Containers[0].Args = []string{"--leader-elect", "--charts=oci://registry.example.com/x"}
	if got := chartsOf(d); got != "oci://registry.example.com/x" {
		t.Errorf("with the argument from %s", got)
	}
}

// TestADirectoryDoesNoHarmWhileNothingIsFetched compares what a manifest asks for
// with what an API server has made of it.
func TestADirectoryDoesNoHarmWhileNothingIsFetched(t *testing.T) {
	load := func() *manifest.Manifest {
		m, err := manifest.Load("../../configs/examples/harvester-ha.yaml")
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for reason, c := range map[string]struct {
		change func(*v1alpha1.AddonsSpec)
		same   bool
	}{
		"nothing":             {func(*v1alpha1.AddonsSpec) {}, true},
		"a default by itself": {func(a *v1alpha1.AddonsSpec) { a.CNI.Type, a.CertManager.Enabled = "cilium", new(true) }, true},
		"what is carried":     {func(a *v1alpha1.AddonsSpec) { a.ButlerController.Version = "v9.9.9" }, true},
		"one less":            {func(a *v1alpha1.AddonsSpec) { a.GitOps.Type = "none" }, false},
		"a version":           {func(a *v1alpha1.AddonsSpec) { a.CNI.Version = "1.17.1" }, false},
		"a value":             {func(a *v1alpha1.AddonsSpec) { a.CNI.HubbleEnabled = new(false) }, false},
	} {
		known := load().Cluster
		c.change(&known.Spec.Addons)
		if got, err := sameFetched(load(), known); err != nil || got != c.same {
			t.Errorf("%s: %t, %v", reason, got, err)
		}
	}
}

func TestADirectoryThatTheClusterWillNotHaveIsReported(t *testing.T) {
	for path, want := range map[string]map[string]int{
		"harvester-ha.yaml":          {"./charts": 1, "oci://registry.example.com/x": 0, "upstream": 0, "": 0},
		"harvester-single-node.yaml": {"./charts": 0},
	} {
		m, err := manifest.Load("../../configs/examples/" + path)
		if err != nil {
			t.Fatal(err)
		}
		for where, n := range want {
			if got := ChartWarnings(where, m); len(got) != n || n > 0 && !strings.Contains(got[0], "--charts oci://") {
				t.Errorf("%s from %q: reported %q", path, where, got)
			}
		}
	}
}
