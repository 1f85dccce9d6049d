// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/charts"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/addon/source"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/front"
	"github.com/butlerdotdev/butler/internal/sim/registry"
)

// serveCharts serves stand-ins on the site's network and returns the source that
// fetches them there.
func (s *site) serveCharts(addons []addon.Addon) *source.Source {
	s.Helper()
	client := &http.Client{Transport: &http.Transport{DialContext: s.network.Dial}}
	if len(addons) > 0 {
		authority, err := front.OpenAuthority(filepath.Join(s.dir, "authority"))
		s.must(err)
		r, err := registry.Start(context.Background(), registry.Options{
			Authority: authority, Network: s.network, Artifacts: artifactsOf(addons), Faults: s.faults,
			Log: slog.New(slog.DiscardHandler),
		})
		s.must(err)
		s.Cleanup(func() { s.must(r.Close()) })
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(authority.Certificate())
		client.Transport = &http.Transport{DialContext: s.network.Dial, TLSClientConfig: &tls.Config{RootCAs: roots}}
	}
	src, err := source.New(source.Options{HTTP: client, Carried: charts.FS})
	s.must(err)
	return src
}

func artifactsOf(addons []addon.Addon) (out []registry.Artifact) {
	for _, a := range addons {
		one := registry.Artifact{Addon: a.Key, Kind: registry.Chart, URL: a.Source.URL, Name: a.Source.Chart, Version: a.Version}
		switch a.Source.Kind {
		case addon.ChartRepository, addon.ChartOCI:
			out = append(out, one)
		case addon.Manifest:
			one.Kind, one.URL = registry.Manifest, fmt.Sprintf(one.URL, a.Version)
			out = append(out, one)
		case addon.Components:
			for _, p := range a.Providers {
				out = append(out, registry.Artifact{Addon: a.Key, Kind: registry.Provider, URL: p.Download(p.File), Version: p.Version})
			}
		case addon.ChartCarried, addon.Objects:
		}
	}
	return out
}

// small is a single node with a network, certificates, addresses and hosted
// control planes, whose chart has hooks.
func small() *v1alpha1.ClusterBootstrap {
	cb := clusterBootstrap()
	cb.Spec.Network.VIP = ""
	cb.Spec.Network.LoadBalancerPool = &v1alpha1.AddressRange{Start: "10.0.0.210", End: "10.0.0.250"}
	a := &cb.Spec.Addons
	a.CNI.Type, a.LoadBalancer.Type, a.ControlPlaneProvider.Type = "cilium", "metallb", "steward"
	a.CertManager.Enabled = nil
	return cb
}

// wanted are the addons of a spec, and of the same spec with other versions.
func wanted(t *testing.T, specs ...v1alpha1.ClusterBootstrapSpec) (out []addon.Addon) {
	t.Helper()
	for _, spec := range specs {
		addons, err := addon.For(spec, addon.Facts{Version: "v0.0.0-test"})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, addons...)
	}
	return out
}

func TestAddonsBecomeReadyEachAfterWhatItNeeds(t *testing.T) {
	cb := small()
	s := siteWith(t, v1alpha1.ProviderHarvester, true, siteOptions{addons: wanted(t, cb.Spec)})
	s.create(cb)
	seen := map[string]bool{}
	ready := s.until("dev", func(cb *v1alpha1.ClusterBootstrap) bool {
		for _, a := range wanted(t, cb.Spec) {
			if !cb.Status.AddonsInstalled[a.Key] {
				continue
			}
			for _, n := range a.Needs {
				if !cb.Status.AddonsInstalled[n] {
					t.Errorf("%s is ready before %s", a.Key, n)
				}
			}
			seen[a.Key] = true
		}
		return cb.Status.Phase == v1alpha1.BootstrapReady
	})
	want := map[string]bool{"cilium": true, "cert-manager": true, "metallb": true, "steward": true}
	if !maps.Equal(want, ready.Status.AddonsInstalled) || !maps.Equal(want, seen) {
		t.Errorf("installed %v, seen %v", ready.Status.AddonsInstalled, seen)
	}
	for _, a := range ready.Status.Addons {
		if a.Phase != v1alpha1.AddonReady || a.Version == "" || !strings.HasPrefix(a.Digest, "sha256:") {
			t.Errorf("%+v", a)
		}
	}
	if !meta.IsStatusConditionTrue(ready.Status.Conditions, v1alpha1.ConditionAddonsReady) {
		t.Errorf("%+v", ready.Status.Conditions)
	}
	s.checkReleases(map[string]string{"cilium": "1", "cert-manager": "1", "metallb": "1", "steward": "1"})
}

// checkReleases wants one deployed release of each name, in this revision.
func (s *site) checkReleases(want map[string]string) {
	s.Helper()
	secrets, err := s.kubernetes("dev").CoreV1().Secrets("").List(s.Context(), metav1.ListOptions{LabelSelector: "owner=helm,status=deployed"})
	s.must(err)
	got := map[string]string{}
	for _, secret := range secrets.Items {
		if other, twice := got[secret.Labels["name"]]; twice {
			s.Errorf("%s is deployed in revisions %s and %s", secret.Labels["name"], other, secret.Labels["version"])
		}
		got[secret.Labels["name"]] = secret.Labels["version"]
	}
	if !maps.Equal(want, got) {
		s.Errorf("releases %v, want %v", got, want)
	}
}

func TestAnotherVersionIsAnUpgrade(t *testing.T) {
	cb, next := small(), small()
	next.Spec.Addons.CertManager.Version = "v1.16.3"
	s := siteWith(t, v1alpha1.ProviderHarvester, true, siteOptions{addons: wanted(t, cb.Spec, next.Spec)})
	s.create(cb)
	s.ready("dev")
	s.change("dev", func(spec *v1alpha1.ClusterBootstrapSpec) { spec.Addons.CertManager.Version = "v1.16.3" })
	s.until("dev", func(cb *v1alpha1.ClusterBootstrap) bool {
		return isReady(cb) && cb.Status.ObservedGeneration == cb.Generation && addonOf(cb, "cert-manager").Version == "v1.16.3" &&
			addonOf(cb, "cert-manager").Phase == v1alpha1.AddonReady
	})
	s.checkReleases(map[string]string{"cilium": "1", "cert-manager": "2", "metallb": "1", "steward": "1"})
}

func addonOf(cb *v1alpha1.ClusterBootstrap, name string) v1alpha1.BootstrapAddonStatus {
	for _, a := range cb.Status.Addons {
		if a.Name == name {
			return a
		}
	}
	return v1alpha1.BootstrapAddonStatus{}
}

// TestAnAddonThatIsLostGoesBack holds the bootstrap before Ready by one addon and
// takes another away that is ready.
func TestAnAddonThatIsLostGoesBack(t *testing.T) {
	cb := small()
	s := siteWith(t, v1alpha1.ProviderHarvester, true, siteOptions{
		addons: wanted(t, cb.Spec),
		faults: fault.Plan{Faults: []fault.Fault{{Kind: fault.ChartUnavailable, Addon: "steward"}}},
	})
	s.create(cb)
	s.until("dev", func(cb *v1alpha1.ClusterBootstrap) bool {
		return cb.Status.AddonsInstalled["cert-manager"] && addonOf(cb, "steward").Phase == v1alpha1.AddonFailing
	})
	s.must(s.kubernetes("dev").AppsV1().Deployments("cert-manager").Delete(t.Context(), "cert-manager-webhook", metav1.DeleteOptions{}))
	s.until("dev", func(cb *v1alpha1.ClusterBootstrap) bool { return !cb.Status.AddonsInstalled["cert-manager"] })
	s.until("dev", func(cb *v1alpha1.ClusterBootstrap) bool { return cb.Status.AddonsInstalled["cert-manager"] })
}

func TestFaultsOfAddonsShowTheirCauseAndHeal(t *testing.T) {
	for kind, tc := range map[fault.Kind]struct{ addon, says string }{
		fault.ChartUnavailable: {"cert-manager", "charts.jetstack.io"},
		fault.AddonNotReady:    {"cert-manager", "Deployment"},
		fault.WebhookRefuses:   {"metallb", "fault plan"},
		fault.HookFails:        {"steward", "steward-etcd"},
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			cb := small()
			s := siteWith(t, v1alpha1.ProviderHarvester, true, siteOptions{
				addons: wanted(t, cb.Spec),
				faults: fault.Plan{Faults: []fault.Fault{{Kind: kind, Addon: tc.addon, For: metav1.Duration{Duration: time.Second}}}},
			})
			s.create(cb)
			s.until("dev", func(cb *v1alpha1.ClusterBootstrap) bool {
				return strings.Contains(addonOf(cb, tc.addon).Message, tc.says) && strings.Contains(conditionOf(cb, v1alpha1.ConditionAddonsReady).Message, tc.says)
			})
			s.faults.Begin()
			s.ready("dev")
		})
	}
}

// TestPausedWhileAddonsInstallIsTakenUpAgain pauses when some addons are ready and
// one waits for a chart.
func TestPausedWhileAddonsInstallIsTakenUpAgain(t *testing.T) {
	cb := small()
	s := siteWith(t, v1alpha1.ProviderHarvester, true, siteOptions{
		addons: wanted(t, cb.Spec),
		faults: fault.Plan{Faults: []fault.Fault{{Kind: fault.ChartUnavailable, Addon: "steward", For: metav1.Duration{Duration: time.Millisecond}}}},
	})
	s.create(cb)
	s.until("dev", func(cb *v1alpha1.ClusterBootstrap) bool {
		return cb.Status.AddonsInstalled["metallb"] && addonOf(cb, "steward").Phase == v1alpha1.AddonFailing
	})
	s.change("dev", pause)
	held := s.until("dev", func(cb *v1alpha1.ClusterBootstrap) bool { return progressing(cb).Reason == reasonPaused })
	if !held.Status.AddonsInstalled["metallb"] || addonOf(held, "steward").Phase != v1alpha1.AddonFailing {
		t.Errorf("what is known of addons is lost: %+v", held.Status.Addons)
	}
	s.faults.Begin()
	s.change("dev", resume)
	s.ready("dev")
	s.checkReleases(map[string]string{"cilium": "1", "cert-manager": "1", "metallb": "1", "steward": "1"})
}

func conditionOf(cb *v1alpha1.ClusterBootstrap, name string) metav1.Condition {
	if c := meta.FindStatusCondition(cb.Status.Conditions, name); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// pool looks at what only the whole chain brings about: MetalLB's webhook has
// accepted the pool of the spec.
func pool(t *testing.T, c *kubernetes.Clientset) string {
	t.Helper()
	data, err := c.CoreV1().RESTClient().Get().AbsPath("/apis/metallb.io/v1beta1/namespaces/metallb-system/ipaddresspools/default").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestThePoolOfTheSpecIsMetalLBs(t *testing.T) {
	cb := small()
	cb.Spec.Addons.ControlPlaneProvider.Type, cb.Spec.Addons.CertManager.Enabled = "none", new(false)
	s := siteWith(t, v1alpha1.ProviderHarvester, true, siteOptions{addons: wanted(t, cb.Spec)})
	s.create(cb)
	s.ready("dev")
	c := s.kubernetes("dev")
	if got := pool(t, c); !strings.Contains(got, "10.0.0.210-10.0.0.250") {
		t.Error(got)
	}
	namespace, err := c.CoreV1().Namespaces().Get(t.Context(), "metallb-system", metav1.GetOptions{})
	s.must(err)
	if level := namespace.Labels["pod-security.kubernetes.io/enforce"]; level != "privileged" {
		t.Errorf("metallb-system enforces %q", level)
	}
	pods, err := c.CoreV1().Pods("metallb-system").List(t.Context(), metav1.ListOptions{})
	s.must(err)
	if len(pods.Items) == 0 || pods.Items[0].Status.Phase != corev1.PodRunning {
		t.Errorf("%d pods", len(pods.Items))
	}
}
