// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/sim/network"
	"github.com/butlerdotdev/butler/internal/sim/registry"
)

const (
	ciliumIndex = "https://helm.cilium.io/index.yaml"
	stewardTag  = "https://ghcr.io/v2/butlerdotdev/charts/steward/manifests/0.4.0"
	gatewayFile = "https://github.com/kubernetes-sigs/gateway-api/releases/download/v1.2.1/experimental-install.yaml"
	coreFile    = "https://github.com/kubernetes-sigs/cluster-api/releases/download/v1.9.4/core-components.yaml"
	coreMeta    = "https://github.com/kubernetes-sigs/cluster-api/releases/download/v1.9.4/metadata.yaml"
)

// digests of all charts and manifests, as a fresh registry serves them.
func digests(t *testing.T, dir string) map[string]string {
	t.Helper()
	w, out := start(t, registry.Options{Authority: authority(t, dir), Artifacts: catalogue(t)}), map[string]string{}
	for _, s := range scenarios() {
		for _, a := range addons(t, s) {
			if a.Source.Chart != "" {
				_, out[a.Source.Chart+" "+a.Version] = w.pull(t, a)
				continue
			}
			for _, one := range artifacts(a) {
				out[one.URL] = string(w.fetch(t, download(one)))
			}
		}
	}
	return out
}

// TestRestartChangesNothing: the same artifacts have the same digests, and the
// authority that clients trust stays.
func TestRestartChangesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "registry")
	first, ca := digests(t, dir), read(t, filepath.Join(dir, "ca.crt"))
	if diff := cmp.Diff(first, digests(t, dir)); diff != "" {
		t.Error(diff)
	}
	if !bytes.Equal(ca, read(t, filepath.Join(dir, "ca.crt"))) {
		t.Error("there is another authority")
	}
	if info, err := os.Stat(filepath.Join(dir, "ca.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v, %v", info.Mode(), err)
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestUnknownAddressIsNotFound(t *testing.T) {
	w := start(t, registry.Options{Artifacts: catalogue(t)})
	for reason, address := range map[string]string{
		"another version of a chart":  "https://helm.cilium.io/cilium-9.9.9.tgz",
		"another tag":                 "https://ghcr.io/v2/butlerdotdev/charts/steward/manifests/9.9.9",
		"another image":               "https://ghcr.io/v2/butlerdotdev/charts/steward-two/manifests/0.4.0",
		"another digest":              "https://ghcr.io/v2/butlerdotdev/charts/steward/blobs/sha256:" + strings.Repeat("0", 64),
		"another release":             strings.Replace(coreFile, "v1.9.4", "v9.9.9", 1),
		"clusterctl's form of it":     strings.Replace(coreFile, "/download/", "/", 1),
		"no registry":                 "https://helm.cilium.io/v2/",
		"another host's path":         "https://helm.cilium.io/kubernetes-sigs/gateway-api/releases/download/v1.2.1/experimental-install.yaml",
		"the root":                    "https://github.com/",
		"metadata without a provider": strings.Replace(gatewayFile, "experimental-install.yaml", "metadata.yaml", 1),
	} {
		if status, body := w.get(t, address); status != http.StatusNotFound {
			t.Errorf("%s: %d %s", reason, status, body)
		}
		if !strings.Contains(w.log.String(), "url="+address) {
			t.Errorf("%s is not in the log", reason)
		}
	}
	var unknown *net.DNSError
	if _, err := w.network.Dial(t.Context(), "tcp", "registry.example.com:443"); !errors.As(err, &unknown) {
		t.Errorf("another host: %v", err)
	}
}

// TestRegistrySpeaksToReadersOnly also looks at what a client may ask before.
func TestRegistrySpeaksToReadersOnly(t *testing.T) {
	w := start(t, registry.Options{Artifacts: catalogue(t)})
	if status, _ := w.get(t, "https://ghcr.io/v2/"); status != http.StatusOK {
		t.Errorf("the registry itself: %d", status)
	}
	if tags := string(w.fetch(t, "https://ghcr.io/v2/butlerdotdev/charts/steward/tags/list")); tags != `{"name":"butlerdotdev/charts/steward","tags":["0.4.0"]}` {
		t.Errorf("tags: %s", tags)
	}
	for method, want := range map[string]int{http.MethodHead: http.StatusOK, http.MethodPut: http.StatusMethodNotAllowed} {
		q, err := http.NewRequestWithContext(t.Context(), method, stewardTag, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := w.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: %d", method, answer.StatusCode)
		}
		digest := answer.Header.Get("Docker-Content-Digest")
		if method == http.MethodHead && string(w.fetch(t, strings.Replace(stewardTag, "0.4.0", digest, 1))) != string(w.fetch(t, stewardTag)) {
			t.Errorf("%s names another digest %s", method, digest)
		}
	}
}

func TestFaultPlanMakesArtifactsUnavailable(t *testing.T) {
	addresses := map[string]string{"cilium": ciliumIndex, "steward": stewardTag, "gateway-api": gatewayFile, "capi": coreMeta}
	for key, address := range addresses {
		t.Run(key, func(t *testing.T) {
			w := start(t, registry.Options{Artifacts: catalogue(t), Faults: injector(t, "{kind: chartUnavailable, times: 2, addon: "+key+"}")})
			for range 2 {
				status, body := w.get(t, address)
				if status != http.StatusServiceUnavailable || !strings.Contains(string(body), "the fault plan makes what the addon "+key) {
					t.Errorf("%d: %s", status, body)
				}
			}
			w.fetch(t, address)
			for other, at := range addresses {
				if other != key {
					w.fetch(t, at)
				}
			}
		})
	}
}

// TestFaultThatCannotHappenIsReported: by the log, and for each kind by whether an
// addon has what goes wrong.
func TestFaultThatCannotHappenIsReported(t *testing.T) {
	happens := "{kind: hookFails, addon: steward}, {kind: webhookRefuses, addon: cert-manager}, {kind: addonNotReady, addon: cilium}, {kind: chartUnavailable}"
	if w := start(t, registry.Options{Artifacts: catalogue(t), Faults: injector(t, happens)}); w.log.String() != "" {
		t.Errorf("log: %s", w.log)
	}
	for _, idle := range []string{
		"{kind: hookFails, addon: cert-manager}", "{kind: webhookRefuses, addon: cilium}",
		"{kind: addonNotReady, addon: gateway-api}", "{kind: chartUnavailable, addon: kube-vip}",
	} {
		w := start(t, registry.Options{Artifacts: catalogue(t), Faults: injector(t, idle)})
		if said := w.log.String(); !strings.Contains(said, "faults[0]") || !strings.Contains(said, "will not happen") {
			t.Errorf("%s: log: %s", idle, said)
		}
		if said, err := registry.Idle(injector(t, idle).Plan(), catalogue(t)); len(said) != 1 || err != nil {
			t.Errorf("%s: %q, %v", idle, said, err)
		}
	}
}

func TestArtifactWithoutStandInIsRefused(t *testing.T) {
	for reason, a := range map[string]registry.Artifact{
		"a chart":       {Kind: registry.Chart, URL: "https://charts.example.com", Name: "nothing", Version: "1.0.0"},
		"a file":        {Kind: registry.Manifest, URL: "https://github.com/o/r/releases/download/v1/f.yaml", Version: "v1"},
		"no release":    {Kind: registry.Manifest, URL: "https://example.com/f.yaml", Version: "v1"},
		"no TLS":        {Kind: registry.Chart, URL: "http://helm.cilium.io", Name: "cilium", Version: "1.17.0"},
		"another name":  {Kind: registry.Chart, URL: "oci://ghcr.io/butlerdotdev/charts/other", Name: "steward", Version: "1.0.0"},
		"another port":  {Kind: registry.Chart, URL: "https://helm.cilium.io:8443", Name: "cilium", Version: "1.17.0"},
		"no version":    {Kind: registry.Provider, URL: "https://github.com/kubernetes-sigs/cluster-api/releases/latest/core-components.yaml", Version: "latest"},
		"no such a way": {Kind: registry.Provider, URL: "oci://ghcr.io/a/b", Version: "v1.0.0"},
	} {
		o := registry.Options{Authority: authority(t, t.TempDir()), Network: network.New(), Artifacts: []registry.Artifact{a}, Log: slog.New(slog.DiscardHandler)}
		r, err := registry.Start(t.Context(), o)
		if err == nil {
			t.Errorf("%s: accepted", reason)
			_ = r.Close()
		} else if !strings.Contains(err.Error(), a.URL) {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

// TestCertificateIsThatOfTheHosts: the registry has no certificate for another host.
func TestCertificateIsThatOfTheHosts(t *testing.T) {
	w := start(t, registry.Options{Artifacts: catalogue(t)})
	conn, err := w.network.Dial(t.Context(), "tcp", "ghcr.io:443")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	trusted := w.Transport.(*http.Transport).TLSClientConfig.Clone()
	trusted.ServerName = "other.example.com"
	if err := tls.Client(conn, trusted).HandshakeContext(t.Context()); err == nil {
		t.Error("the registry passes for another host")
	}
	w.fetch(t, stewardTag)
	w.fetch(t, ciliumIndex)
}

func TestClosedRegistryIsOffTheNetwork(t *testing.T) {
	n := network.New()
	r, err := registry.Start(t.Context(), registry.Options{Authority: authority(t, t.TempDir()), Network: n, Artifacts: catalogue(t), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Dial(t.Context(), "tcp", "ghcr.io:443"); err == nil {
		t.Error("it is still reached")
	}
}

// TestTwoVersionsOfAChart: an upgrade finds both.
func TestTwoVersionsOfAChart(t *testing.T) {
	spec := scenarios()["harvester"]
	was := find(t, addons(t, spec), "cilium")
	spec.Addons.CNI.Version = "1.17.1"
	is := find(t, addons(t, spec), "cilium")
	w := start(t, registry.Options{Artifacts: slices.Concat(artifacts(was), artifacts(is))})
	first, _ := w.pull(t, was)
	second, _ := w.pull(t, is)
	if first.Metadata.Version != "1.17.0" || second.Metadata.Version != "1.17.1" {
		t.Errorf("%s, %s", first.Metadata.Version, second.Metadata.Version)
	}
}

// TestComponentsAreServedWhereTheyAreDownloaded: in whichever form their address
// was given.
func TestComponentsAreServedWhereTheyAreDownloaded(t *testing.T) {
	p := find(t, addons(t, scenarios()["harvester"]), "capi").Providers[0]
	for _, address := range []string{p.URL(), p.Download(p.File)} {
		w := start(t, registry.Options{Artifacts: []registry.Artifact{{Addon: "capi", Kind: registry.Provider, URL: address, Version: p.Version}}})
		w.fetch(t, coreFile)
		w.fetch(t, coreMeta)
	}
}

func find(t *testing.T, all []addon.Addon, key string) addon.Addon {
	t.Helper()
	i := slices.IndexFunc(all, func(a addon.Addon) bool { return a.Key == key })
	if i < 0 {
		t.Fatalf("no addon %s", key)
	}
	return all[i]
}

// TestMetadataNamesTheContract of the release that it stands beside.
func TestMetadataNamesTheContract(t *testing.T) {
	w := start(t, registry.Options{Artifacts: catalogue(t)})
	for version, want := range map[string]string{
		"v1.9.4":  "major: 1\n  minor: 9",
		"v1.11.0": "major: 1\n  minor: 11",
	} {
		got := string(w.fetch(t, strings.Replace(coreMeta, "v1.9.4", version, 1)))
		contract := map[string]string{"v1.9.4": "v1beta1", "v1.11.0": "v1beta2"}[version]
		if !strings.Contains(got, want) || !strings.Contains(got, "contract: "+contract) {
			t.Errorf("%s:\n%s", version, got)
		}
	}
}

// TestVariablesAreLeftToTheInstallation: those that the catalogue knows stay
// in the components.
func TestVariablesAreLeftToTheInstallation(t *testing.T) {
	w := start(t, registry.Options{Artifacts: catalogue(t)})
	for _, s := range scenarios() {
		for _, p := range find(t, addons(t, s), "capi").Providers {
			components := string(w.fetch(t, p.Download(p.File)))
			for _, v := range p.Variables {
				bare := strings.Contains(components, "${"+v.Name+"}")
				if byDefault := strings.Contains(components, "${"+v.Name+"=") || strings.Contains(components, "${"+v.Name+":="); bare != v.Required || byDefault == v.Required {
					t.Errorf("%s: %s, required %t, stands there without a default: %t, with one: %t", p.Name, v.Name, v.Required, bare, byDefault)
				}
			}
		}
	}
}

// TestTraefikCarriesTheStandardChannel: what the catalogue leaves out is there.
func TestTraefikCarriesTheStandardChannel(t *testing.T) {
	w := start(t, registry.Options{Artifacts: catalogue(t)})
	a := find(t, addons(t, scenarios()[string(v1alpha1.ProviderHarvester)]), "traefik")
	c, _ := w.pull(t, a)
	for _, f := range c.CRDObjects() {
		if slices.Contains(a.Source.WithoutCRDs, f.Name) && bytes.Contains(f.File.Data, []byte("channel: standard")) {
			return
		}
	}
	t.Errorf("it has nothing of %v", a.Source.WithoutCRDs)
}

// TestImagesAreAskedFor by tag and by digest, also at a port of their own.
func TestImagesAreAskedFor(t *testing.T) {
	pinned := "sha256:" + strings.Repeat("a", 64)
	w := start(t, registry.Options{
		Faults: injector(t, "{kind: imageMissing, addon: gone}"),
		Artifacts: []registry.Artifact{
			{Addon: "one", Kind: registry.Image, URL: "oci://ghcr.io/mine/one", Version: "v1.2.3", Digest: pinned},
			{Addon: "two", Kind: registry.Image, URL: "oci://registry.example.com:5000/mine/two", Version: "v1.2.3"},
			{Addon: "gone", Kind: registry.Image, URL: "oci://ghcr.io/mine/gone", Version: "v1.2.3"},
		},
	})
	for reason, c := range map[string]struct {
		url    string
		status int
	}{
		"by tag":               {"https://ghcr.io/v2/mine/one/manifests/v1.2.3", http.StatusOK},
		"by digest":            {"https://ghcr.io/v2/mine/one/manifests/" + pinned, http.StatusOK},
		"by another digest":    {"https://ghcr.io/v2/mine/one/manifests/sha256:" + strings.Repeat("b", 64), http.StatusNotFound},
		"of another version":   {"https://ghcr.io/v2/mine/one/manifests/v9.9.9", http.StatusNotFound},
		"at a port":            {"https://registry.example.com:5000/v2/mine/two/manifests/v1.2.3", http.StatusOK},
		"that a fault removes": {"https://ghcr.io/v2/mine/gone/manifests/v1.2.3", http.StatusNotFound},
		"of a registry":        {"https://registry.example.com:5000/v2/", http.StatusOK},
	} {
		t.Run(reason, func(t *testing.T) {
			answer, err := w.Head(c.url)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != c.status {
				t.Errorf("%s answers %s", c.url, answer.Status)
			}
		})
	}
}
