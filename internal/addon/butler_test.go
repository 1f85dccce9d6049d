// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package addon

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// reach is what an addon may read Secrets in, and what must be there for that.
type reach struct {
	Clusters, Credentials, Secrets any
	Beside                         []Namespace
}

func addonOf(t *testing.T, spec v1alpha1.ClusterBootstrapSpec, f Facts, key string) Addon {
	t.Helper()
	all, err := For(spec, f)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if a.Key == key {
			return a
		}
	}
	t.Fatalf("no %s", key)
	return Addon{}
}

func reachOf(t *testing.T, spec v1alpha1.ClusterBootstrapSpec, f Facts, key string) reach {
	t.Helper()
	a := addonOf(t, spec, f, key)
	return reach{a.Values["clusterNamespaces"], a.Values["credentialsNamespaces"], a.Values["credentialsSecrets"], a.Beside}
}

func TestControllersReachTheSecretsOfTheirClusterAndNoOthers(t *testing.T) {
	foreign := v1alpha1.CAPIInfraProviderSpec{Name: v1alpha1.ProviderAWS, CredentialsSecretRef: &v1alpha1.SecretReference{Name: "aws", Namespace: "clouds"}}
	cases := map[string]struct {
		cluster, provider, secret string
		foreign                   bool
		bootstrap, harvester      reach
	}{
		"all in the platform's namespace": {"butler-system", "butler-system", "", false, reach{}, reach{Secrets: []string{"butler-system/a"}}},
		"nothing is known":                {"", "", "", false, reach{}, reach{Secrets: []string{"butler-system/a"}}},
		"the cluster elsewhere, all beside it": {
			"prod", "prod", "", false,
			reach{[]string{"prod"}, []string{"prod"}, nil, []Namespace{{Name: "prod"}}},
			reach{nil, nil, []string{"prod/a"}, []Namespace{{Name: "prod"}}},
		},
		"each elsewhere": {
			"prod", "providers", "vault", false,
			reach{[]string{"prod"}, []string{"vault"}, nil, []Namespace{{Name: "prod"}, {Name: "vault"}}},
			reach{nil, nil, []string{"vault/a"}, []Namespace{{Name: "vault"}}},
		},
		"the ProviderConfig elsewhere": {
			"", "providers", "", false,
			reach{nil, []string{"providers"}, nil, []Namespace{{Name: "providers"}}},
			reach{nil, nil, []string{"providers/a"}, []Namespace{{Name: "providers"}}},
		},
		"credentials of another platform": {
			"", "", "", true,
			reach{nil, []string{"butler-system", "clouds"}, nil, []Namespace{{Name: "clouds"}}},
			reach{Secrets: []string{"butler-system/a"}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			spec, f := onPrem(v1alpha1.ProviderHarvester), facts("10.40.0.200")
			f.Namespace, f.ProviderNamespace = c.cluster, c.provider
			f.Platform.CredentialsRef = &v1alpha1.SecretReference{Name: "a", Namespace: c.secret}
			if c.foreign {
				spec.Addons.CAPI.InfrastructureProviders = []v1alpha1.CAPIInfraProviderSpec{foreign}
			}
			if diff := cmp.Diff(c.bootstrap, reachOf(t, spec, f, ButlerBootstrap)); diff != "" {
				t.Errorf("bootstrap: %s", diff)
			}
			if diff := cmp.Diff(c.harvester, reachOf(t, spec, f, "butler-provider-harvester")); diff != "" {
				t.Errorf("provider: %s", diff)
			}
		})
	}
}

func TestImagesComeFromWhereThatOfTheControllerDoes(t *testing.T) {
	for image, prefix := range map[string]string{
		"":                                       "ghcr.io/butlerdotdev/",
		"ghcr.io/butlerdotdev/butler-controller": "ghcr.io/butlerdotdev/",
		"registry.example.com:5000/mine/own-controller": "registry.example.com:5000/mine/",
		"butler-controller":                             "",
	} {
		spec := onPrem(v1alpha1.ProviderHarvester)
		spec.Addons.ButlerController.Image, spec.Addons.ButlerController.Version = image, "v9.9.9"
		for _, key := range []string{ButlerBootstrap, "butler-provider-harvester"} {
			want := map[string]any{"repository": prefix + key, "tag": "v0.1.0"}
			if diff := cmp.Diff(want, addonOf(t, spec, facts("10.40.0.200"), key).Values["image"]); diff != "" {
				t.Errorf("%q: %s", image, diff)
			}
		}
	}
}

func TestTheRegistryOfAddonsIsPassedToTheCluster(t *testing.T) {
	spec, f := onPrem(v1alpha1.ProviderHarvester), facts("10.40.0.200")
	if args, set := addonOf(t, spec, f, ButlerBootstrap).Values["extraArgs"]; set {
		t.Errorf("without one the arguments are %v", args)
	}
	f.Registry = "oci://registry.example.com/charts"
	if diff := cmp.Diff(any([]string{"--charts=oci://registry.example.com/charts"}), addonOf(t, spec, f, ButlerBootstrap).Values["extraArgs"]); diff != "" {
		t.Error(diff)
	}
}

// TestThePlatformRunsRestricted, but for the console, whose chart does not meet
// that level. Addons that share a namespace agree on its level.
func TestThePlatformRunsRestricted(t *testing.T) {
	for console, want := range map[bool]PodSecurity{false: Restricted, true: Baseline} {
		spec := onPrem(v1alpha1.ProviderHarvester)
		spec.Addons.Console.Enabled = new(console)
		all, err := For(spec, facts("10.40.0.200"))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range all {
			if a.Namespace.Name == PlatformNamespace && a.Namespace.PodSecurity != want {
				t.Errorf("%s with console %t: %s", a.Key, console, a.Namespace.PodSecurity)
			}
		}
	}
}

// TestImagesOfAReleaseArePinned wherever they were pushed to, but not those of the user.
func TestImagesOfAReleaseArePinned(t *testing.T) {
	a, b := "sha256:"+strings.Repeat("a", 64), "sha256:"+strings.Repeat("b", 64)
	cases := map[string]struct {
		image, version string
		controller     any
	}{
		"of the project":       {"", "", a},
		"in another registry":  {"registry.example.com/mine/butler-controller", "", a},
		"of another version":   {"", "v9.9.9", nil},
		"with another name":    {"registry.example.com/mine/own-controller", "", nil},
		"of the version given": {"", "v0.1.0", a},
	}
	for reason, c := range cases {
		t.Run(reason, func(t *testing.T) {
			spec, f := onPrem(v1alpha1.ProviderHarvester), facts("10.40.0.200")
			spec.Addons.ButlerController.Image, spec.Addons.ButlerController.Version = c.image, c.version
			f.Digests = map[string]string{ButlerController: a, ButlerBootstrap: b}
			for key, want := range map[string]any{ButlerController: c.controller, ButlerBootstrap: b, "butler-provider-harvester": nil} {
				image, _ := addonOf(t, spec, f, key).Values["image"].(map[string]any)
				if image["digest"] != want {
					t.Errorf("%s is pinned to %v, want %v", key, image["digest"], want)
				}
			}
			want := any([]string{"--image-digests=butler-bootstrap=" + b + ",butler-controller=" + a})
			if diff := cmp.Diff(want, addonOf(t, spec, f, ButlerBootstrap).Values["extraArgs"]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestTwoOfEachControllerRunOnDifferentNodes, of which some may be control planes.
func TestTwoOfEachControllerRunOnDifferentNodes(t *testing.T) {
	pool := func(replicas int32) *v1alpha1.NodePool { return &v1alpha1.NodePool{Replicas: replicas} }
	for reason, c := range map[string]struct {
		topology v1alpha1.Topology
		workers  *v1alpha1.NodePool
		want     int
	}{
		"one node":             {v1alpha1.TopologySingleNode, nil, 1},
		"control planes alone": {v1alpha1.TopologyHA, nil, 2},
		"a single worker":      {v1alpha1.TopologyHA, pool(1), 2},
		"several workers":      {v1alpha1.TopologyHA, pool(3), 2},
	} {
		t.Run(reason, func(t *testing.T) {
			spec := onPrem(v1alpha1.ProviderHarvester)
			spec.Cluster = v1alpha1.ClusterSpec{Topology: c.topology, ControlPlane: *pool(3), Workers: c.workers}
			for _, key := range []string{ButlerController, ButlerProvider + "harvester"} {
				if got := addonOf(t, spec, facts("10.40.0.200"), key).Values["replicaCount"]; got != c.want {
					t.Errorf("%v of %s, want %d", got, key, c.want)
				}
			}
		})
	}
}
