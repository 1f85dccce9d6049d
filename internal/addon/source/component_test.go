// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
)

// capi is the addon of a cluster on Nutanix, as the catalogue has it.
func capi(t *testing.T) addon.Addon {
	t.Helper()
	spec := v1alpha1.ClusterBootstrapSpec{Provider: v1alpha1.ProviderNutanix}
	spec.Network.VIP = "10.0.0.200"
	addons, err := addon.For(spec, addon.Facts{Version: "v0.3.1", Platform: v1alpha1.ProviderConfigSpec{Provider: v1alpha1.ProviderNutanix}})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(addons, func(a addon.Addon) bool { return a.Key == addon.CAPI })
	if i < 0 {
		t.Fatal("the catalogue has no capi")
	}
	return addons[i]
}

func given(p addon.Provider) (map[string]string, error) {
	if p.Platform == "" {
		return nil, nil
	}
	return map[string]string{"NUTANIX_ENDPOINT": "prism.example.com", "NUTANIX_USER": "admin", "NUTANIX_PASSWORD": `a\"b`}, nil
}

// releaseFiles are what the releases of providers have; what is not set is as
// it ought to be.
type releaseFiles struct {
	contracts map[string]string // by label
	series    map[string]string // instead of the one of the version
}

func (f releaseFiles) metadata(p addon.Provider) string {
	contract, series := "v1beta1", strings.Split(strings.TrimPrefix(p.Version, "v"), ".")
	if c, ok := f.contracts[label(p)]; ok {
		contract = c
	}
	if s, ok := f.series[label(p)]; ok {
		series = strings.Split(s, ".")
	}
	return fmt.Sprintf("apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: %s, minor: %s, contract: %s}\n- {major: 99, minor: 0, contract: v9}\n",
		series[0], series[1], contract)
}

func (f releaseFiles) components(p addon.Provider) string {
	text := strings.ReplaceAll(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: NAME-validating
  annotations: {cert-manager.io/inject-ca-from: elsewhere/NAME-cert}
webhooks:
- name: a.b.c
  clientConfig: {service: {name: NAME-webhook, namespace: elsewhere, path: /validate}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME-controller-manager, namespace: elsewhere}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers:
      - {name: manager, image: "registry.example.com/NAME:v1", args: ["--v=${LOG_LEVEL:=0}"]}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: NAME-cert, namespace: elsewhere}
spec: {secretName: NAME-cert, dnsNames: [NAME-webhook.elsewhere.svc]}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.NAME.x-k8s.io}
spec: {group: NAME.x-k8s.io, names: {kind: Thing, plural: things}, scope: Namespaced, versions: []}
---
apiVersion: v1
kind: Namespace
metadata: {name: elsewhere}
`, "NAME", label(p))
	if p.Platform == v1alpha1.ProviderNutanix {
		text += `
---
apiVersion: v1
kind: Secret
metadata: {name: login, namespace: elsewhere}
stringData:
  credentials: |
    {"address": "${NUTANIX_ENDPOINT}", "port": ${NUTANIX_PORT=9440}, "user": "${NUTANIX_USER}", "password": "${NUTANIX_PASSWORD}"}
`
	}
	return text
}

func (w *fixture) release(a addon.Addon, f releaseFiles) {
	for _, p := range a.Providers {
		w.files[p.Download(p.File)] = []byte(f.components(p))
		w.files[p.Download(metadataFile)] = []byte(f.metadata(p))
	}
}

func TestComponentsAreCompletedAndOrdered(t *testing.T) {
	t.Setenv("LOG_LEVEL", "from the environment")
	w, a := newFixture(t), capi(t)
	w.release(a, releaseFiles{})
	c := fetched(t, w.source(t, ""), a, given)
	kinds := []string{"Namespace", "CustomResourceDefinition", "Secret", "Certificate", "Deployment", "ValidatingWebhookConfiguration"}
	var got []string
	for _, o := range c.Objects {
		got = append(got, o.GetKind())
	}
	if diff := cmp.Diff(kinds, slices.Compact(got)); diff != "" {
		t.Errorf("order of kinds: %s", diff)
	}
	if len(got) != 5*len(a.Providers)+1 {
		t.Errorf("%d objects of %d providers", len(got), len(a.Providers))
	}
	for _, o := range c.Objects {
		text := fmt.Sprint(o.Object)
		if strings.Contains(text, "elsewhere") || strings.Contains(text, "from the environment") {
			t.Errorf("%s %s has another namespace or environment: %s", o.GetKind(), o.GetName(), text)
		}
		if o.GetLabels()["cluster.x-k8s.io/provider"] == "" {
			t.Errorf("%s %s does not say whose it is", o.GetKind(), o.GetName())
		}
		if o.GetKind() == "Secret" {
			want := `{"address": "prism.example.com", "port": 9440, "user": "admin", "password": "a\"b"}`
			if got := fmt.Sprint(o.Object["stringData"]); !strings.Contains(got, want) {
				t.Errorf("credentials are %s", got)
			}
		}
	}
	if !strings.HasPrefix(c.Digest, "sha256:") || !strings.Contains(c.Origin, "kubernetes-sigs/cluster-api/releases/download/v1.9.4/core-components.yaml") {
		t.Errorf("%s from %s", c.Digest, c.Origin)
	}
}

func TestAChangedReleaseHasAnotherChecksum(t *testing.T) {
	w, a := newFixture(t), capi(t)
	w.release(a, releaseFiles{})
	before := fetched(t, w.source(t, ""), a, given)
	last := a.Providers[len(a.Providers)-1]
	w.files[last.Download(last.File)] = append(w.files[last.Download(last.File)], "# changed\n"...)
	if fetched(t, w.source(t, ""), a, given).Digest == before.Digest {
		t.Error("the checksum stays the same")
	}
}

func TestComponentsThatCannotBeUsed(t *testing.T) {
	for name, tt := range map[string]struct {
		files releaseFiles
		spoil func(*fixture, addon.Addon)
		given Variables
		want  string
	}{
		"a required variable": {
			given: func(addon.Provider) (map[string]string, error) { return map[string]string{"NUTANIX_USER": "x"}, nil },
			want:  "components of infrastructure-nutanix v1.5.3 need NUTANIX_ENDPOINT, NUTANIX_PASSWORD: put a key of that name into the Secret that credentialsSecretRef of nutanix names in spec.addons.capi.infrastructureProviders",
		},
		"no variables": {
			given: nil,
			want:  "components of infrastructure-nutanix v1.5.3 need NUTANIX_ENDPOINT, NUTANIX_PASSWORD, NUTANIX_USER: ",
		},
		"variables cannot be had": {
			given: func(p addon.Provider) (map[string]string, error) {
				if p.Platform == "" {
					return nil, nil
				}
				return nil, errors.New("no Secret")
			},
			want: "components of infrastructure-nutanix v1.5.3: no Secret",
		},
		"another contract": {
			given: given, files: releaseFiles{contracts: map[string]string{"infrastructure-nutanix": "v1beta2"}},
			want: "infrastructure-nutanix v1.5.3 uses contract v1beta2 of Cluster API, and cluster-api v1.9.4 serves v1beta1: set another version of either in spec.addons.capi",
		},
		"series of the future only": {
			given: given, files: releaseFiles{series: map[string]string{"infrastructure-nutanix": "1.6"}},
			want: "it lists no release series for v1.5.3: set another version",
		},
		"no metadata": {
			given: given,
			spoil: func(w *fixture, a addon.Addon) { w.files[a.Providers[0].Download(metadataFile)] = []byte("<html>") },
			want:  "it is not metadata of clusterctl",
		},
		"no such release": {
			given: given,
			spoil: func(w *fixture, a addon.Addon) { delete(w.files, a.Providers[0].Download(a.Providers[0].File)) },
			want:  "core-components.yaml of cluster-api v1.9.4 is not at https://github.com/kubernetes-sigs/cluster-api/releases/download/v1.9.4/core-components.yaml: set another version",
		},
		"down": {
			given: given,
			spoil: func(w *fixture, a addon.Addon) {
				for _, p := range a.Providers {
					w.answers[p.Download(p.File)] = status(http.StatusServiceUnavailable)
				}
			},
			want: "core-components.yaml of cluster-api v1.9.4 cannot be fetched from https://github.com/kubernetes-sigs/cluster-api/releases/download/v1.9.4/core-components.yaml: it answered 503 Service Unavailable; " + redirectHint,
		},
		"no objects": {
			given: given,
			spoil: func(w *fixture, a addon.Addon) {
				w.files[a.Providers[0].Download(a.Providers[0].File)] = []byte("kind: [")
			},
			want: "core-components.yaml of cluster-api v1.9.4 from https://github.com/kubernetes-sigs/cluster-api/releases/download/v1.9.4/core-components.yaml cannot be used: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, a := newFixture(t), capi(t)
			w.release(a, tt.files)
			if tt.spoil != nil {
				tt.spoil(w, a)
			}
			if err := refusal(t, w.source(t, ""), a, tt.given); !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is\n%v\nwithout\n%s", err, tt.want)
			}
		})
	}
}

func TestContractsThatWorkTogether(t *testing.T) {
	for name, f := range map[string]releaseFiles{
		"a newer core takes providers of the contract before": {contracts: map[string]string{"cluster-api": "v1beta2", "bootstrap-kubeadm": "v1beta2"}},
		"a project that does not list its series":             {series: map[string]string{"control-plane-steward": "0.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			w, a := newFixture(t), capi(t)
			w.release(a, f)
			fetched(t, w.source(t, ""), a, given)
		})
	}
}

func TestAnErrorOfComponentsQuotesNoCredential(t *testing.T) {
	w, a := newFixture(t), capi(t)
	w.release(a, releaseFiles{})
	p := a.Providers[len(a.Providers)-1]
	// An object that clusterctl does not take, and calls by its name.
	w.files[p.Download(p.File)] = []byte("apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n" +
		"metadata: {name: \"${NUTANIX_PASSWORD}\", annotations: {cert-manager.io/inject-ca-from: nonsense}}\n")
	secret := func(addon.Provider) (map[string]string, error) {
		return map[string]string{"NUTANIX_PASSWORD": "hunter2"}, nil
	}
	if err := refusal(t, w.source(t, ""), a, secret); strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
}
