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
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	src, err := source.New(source.Options{HTTP: client, StandIns: true, Carried: charts.FS})
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

// TestLifeOfAddons follows the addons of one cluster: they wait for a chart, one is lost, the
// bootstrap is paused, all become ready, and one gets another version.
func TestLifeOfAddons(t *testing.T) {
	cb, next := small(), small()
	next.Spec.Addons.CertManager.Version = "v1.16.3"
	s := siteWith(t, v1alpha1.ProviderHarvester, true, siteOptions{
		addons: wanted(t, cb.Spec, next.Spec),
		faults: fault.Plan{Faults: []fault.Fault{{Kind: fault.ChartUnavailable, Addon: "steward", For: metav1.Duration{Duration: time.Millisecond}}}},
	})
	s.create(cb)
	seen := map[string]bool{}
	s.until("dev", func(cb *v1alpha1.ClusterBootstrap) bool {
		s.inOrder(cb, seen)
		return cb.Status.AddonsInstalled["cert-manager"] && cb.Status.AddonsInstalled["metallb"] && showsCauses(cb, map[string]string{"steward": "ghcr.io"})
	})
	t.Run("one that is lost goes back", func(t *testing.T) {
		s.must(s.kubernetes("dev").AppsV1().Deployments("cert-manager").Delete(t.Context(), "cert-manager-webhook", metav1.DeleteOptions{}))
		s.until("dev", func(cb *v1alpha1.ClusterBootstrap) bool { return !cb.Status.AddonsInstalled["cert-manager"] })
		s.until("dev", func(cb *v1alpha1.ClusterBootstrap) bool { return cb.Status.AddonsInstalled["cert-manager"] })
	})
	t.Run("what is known of them outlasts a pause", func(t *testing.T) {
		s.change("dev", pause)
		held := s.until("dev", func(cb *v1alpha1.ClusterBootstrap) bool { return progressing(cb).Reason == reasonPaused })
		if !held.Status.AddonsInstalled["metallb"] || addonOf(held, "steward").Phase != v1alpha1.AddonFailing {
			t.Errorf("%+v", held.Status.Addons)
		}
		s.faults.Begin()
		s.change("dev", resume)
	})
	ready := s.until("dev", func(cb *v1alpha1.ClusterBootstrap) bool {
		s.inOrder(cb, seen)
		return isReady(cb)
	})
	checkAllReady(t, ready, seen)
	t.Run("MetalLB has the pool of the spec", func(t *testing.T) { s.checkPool() })
	before := s.releases()
	t.Run("another version is an upgrade", func(t *testing.T) {
		s.change("dev", func(spec *v1alpha1.ClusterBootstrapSpec) { spec.Addons.CertManager.Version = "v1.16.3" })
		s.until("dev", func(cb *v1alpha1.ClusterBootstrap) bool {
			return isReady(cb) && cb.Status.ObservedGeneration == cb.Generation && addonOf(cb, "cert-manager").Version == "v1.16.3" &&
				addonOf(cb, "cert-manager").Phase == v1alpha1.AddonReady
		})
		after := s.releases()
		if after["cert-manager"] != before["cert-manager"]+1 {
			t.Errorf("cert-manager is in revision %d, and was in %d", after["cert-manager"], before["cert-manager"])
		}
		for _, name := range []string{"cilium", "metallb", "steward"} {
			if before[name] != 1 || after[name] != 1 {
				t.Errorf("%s is in revision %d, and was in %d; want 1", name, after[name], before[name])
			}
		}
	})
}

// inOrder records the addons that are ready, and wants those that each of them needs to be so.
func (s *site) inOrder(cb *v1alpha1.ClusterBootstrap, seen map[string]bool) {
	s.Helper()
	for _, a := range wanted(s.T, cb.Spec) {
		if !cb.Status.AddonsInstalled[a.Key] {
			continue
		}
		for _, n := range a.Needs {
			if !cb.Status.AddonsInstalled[n] && !seen[a.Key] {
				s.Errorf("%s is ready before %s", a.Key, n)
			}
		}
		seen[a.Key] = true
	}
}

// showsCauses returns whether each addon has its cause in its message, and the cluster's
// condition, which has room for one, has one of them.
func showsCauses(cb *v1alpha1.ClusterBootstrap, causes map[string]string) bool {
	shown := false
	for name, cause := range causes {
		if !strings.Contains(addonOf(cb, name).Message, cause) {
			return false
		}
		shown = shown || strings.Contains(conditionOf(cb, v1alpha1.ConditionAddonsReady).Message, cause)
	}
	return shown
}

func checkAllReady(t *testing.T, ready *v1alpha1.ClusterBootstrap, seen map[string]bool) {
	t.Helper()
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
}

// releases are the revisions of what is deployed, one of each name.
func (s *site) releases() map[string]int {
	s.Helper()
	secrets, err := s.kubernetes("dev").CoreV1().Secrets("").List(s.Context(), metav1.ListOptions{LabelSelector: "owner=helm,status=deployed"})
	s.must(err)
	got := map[string]int{}
	for _, secret := range secrets.Items {
		revision, err := strconv.Atoi(secret.Labels["version"])
		s.must(err)
		if other, twice := got[secret.Labels["name"]]; twice {
			s.Errorf("%s is deployed in revisions %d and %d", secret.Labels["name"], other, revision)
		}
		got[secret.Labels["name"]] = revision
	}
	return got
}

func addonOf(cb *v1alpha1.ClusterBootstrap, name string) v1alpha1.BootstrapAddonStatus {
	for _, a := range cb.Status.Addons {
		if a.Name == name {
			return a
		}
	}
	return v1alpha1.BootstrapAddonStatus{}
}

func TestFaultsOfAddonsShowTheirCauseAndHeal(t *testing.T) {
	for name, faults := range map[string]map[fault.Kind]struct{ addon, cause string }{
		"objects": {fault.AddonNotReady: {"cert-manager", "Deployment"}, fault.WebhookRefuses: {"metallb", "fault plan"}},
		"hook":    {fault.HookFails: {"steward", "steward-etcd"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var plan fault.Plan
			causes := map[string]string{}
			for kind, f := range faults {
				plan.Faults = append(plan.Faults, fault.Fault{Kind: kind, Addon: f.addon, For: metav1.Duration{Duration: time.Second}})
				causes[f.addon] = f.cause
			}
			cb := small()
			s := siteWith(t, v1alpha1.ProviderHarvester, true, siteOptions{addons: wanted(t, cb.Spec), faults: plan})
			s.create(cb)
			s.until("dev", func(cb *v1alpha1.ClusterBootstrap) bool { return showsCauses(cb, causes) })
			s.faults.Begin()
			s.ready("dev")
		})
	}
}

func conditionOf(cb *v1alpha1.ClusterBootstrap, name string) metav1.Condition {
	if c := meta.FindStatusCondition(cb.Status.Conditions, name); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// checkPool wants what only the whole chain brings about: MetalLB's webhook has accepted
// the pool of the spec.
func (s *site) checkPool() {
	s.Helper()
	c := s.kubernetes("dev")
	got, err := c.CoreV1().RESTClient().Get().AbsPath("/apis/metallb.io/v1beta1/namespaces/metallb-system/ipaddresspools/default").DoRaw(s.Context())
	s.must(err)
	if !strings.Contains(string(got), "10.0.0.210-10.0.0.250") {
		s.Errorf("%s", got)
	}
	namespace, err := c.CoreV1().Namespaces().Get(s.Context(), "metallb-system", metav1.GetOptions{})
	s.must(err)
	if level := namespace.Labels["pod-security.kubernetes.io/enforce"]; level != "privileged" {
		s.Errorf("metallb-system enforces %q", level)
	}
	pods, err := c.CoreV1().Pods("metallb-system").List(s.Context(), metav1.ListOptions{})
	s.must(err)
	if len(pods.Items) == 0 || pods.Items[0].Status.Phase != corev1.PodRunning {
		s.Errorf("%d pods", len(pods.Items))
	}
}
