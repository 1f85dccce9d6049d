// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

const exampleGateway = "../../configs/examples/harvester-ha-gateway.yaml"

// The addons of the examples, and the Helm releases among them.
var (
	addonsSingle = []string{
		"butler-controller", "butler-crds", "butler-provider-harvester", "capi", "cert-manager", "cilium", "flux", "longhorn", "steward", "traefik",
	}
	addonsHA      = slices.Sorted(slices.Values(append([]string{"butler-bootstrap", "kube-vip", "metallb"}, addonsSingle...)))
	addonsGateway = slices.Sorted(slices.Values(append([]string{"console", "gateway-api"}, addonsHA...)))
	releasesHA    = slices.DeleteFunc(slices.Clone(addonsHA), func(key string) bool { return key == "capi" || key == "kube-vip" })
)

// status is what the command says of a cluster.
func (a adm) status(cluster string) v1alpha1.ClusterBootstrapStatus {
	a.Helper()
	var cb v1alpha1.ClusterBootstrap
	if err := json.Unmarshal([]byte(a.ok("status", cluster, "-o", "json").out), &cb); err != nil {
		a.Fatal(err)
	}
	return cb.Status
}

// expectAddons: these and no others, each seen to work.
func expectAddons(t *testing.T, a adm, cluster string, want ...string) {
	t.Helper()
	s := a.status(cluster)
	var names []string
	for _, addon := range s.Addons {
		names = append(names, addon.Name)
		if addon.Phase != v1alpha1.AddonReady || addon.Message != "" || addon.Version == "" {
			t.Errorf("addon %+v", addon)
		}
		if !s.AddonsInstalled[addon.Name] {
			t.Errorf("%s is %s, and not installed", addon.Name, addon.Phase)
		}
	}
	slices.Sort(names)
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("addons (-want +got)\n%s", diff)
	}
	if len(s.AddonsInstalled) != len(want) {
		t.Errorf("addonsInstalled %v", s.AddonsInstalled)
	}
}

// expectOneReleaseEach asks Helm's own record: of each release one revision is
// deployed, and none is under way. Revisions whose writer was killed have
// failed.
func expectOneReleaseEach(t *testing.T, a adm, cluster string, want ...string) {
	t.Helper()
	config := a.config([]byte(a.ok("kubeconfig", cluster).out))
	secrets, err := kubernetes.NewForConfigOrDie(config).CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{LabelSelector: "owner=helm"})
	if err != nil {
		t.Fatal(err)
	}
	var deployed []string
	for _, s := range secrets.Items {
		switch status := s.Labels["status"]; {
		case !strings.HasPrefix(s.Name, "sh.helm.release.v1."+s.Labels["name"]+".v"):
			t.Errorf("%s is no record of %s", s.Name, s.Labels["name"])
		case status == "deployed":
			deployed = append(deployed, s.Labels["name"])
		case status != "superseded" && status != "failed":
			t.Errorf("%s is %s", s.Name, status)
		}
	}
	slices.Sort(deployed)
	if diff := cmp.Diff(want, deployed); diff != "" {
		t.Errorf("releases (-want +got)\n%s", diff)
	}
}

func TestAddonsListsWhatWouldBeInstalled(t *testing.T) {
	a := newAdm(t)
	lines := strings.Split(a.ok("addons", "-c", exampleGateway).out, "\n")
	for _, want := range []string{
		"ADDON VERSION SOURCE AFTER",
		"gateway-api v1.2.1 https://github.com/kubernetes-sigs/gateway-api/releases/download/v1.2.1/experimental-install.yaml -",
		"cilium 1.17.0 https://helm.cilium.io/ gateway-api",
		"steward 0.4.0 oci://ghcr.io/butlerdotdev/charts/steward cert-manager, longhorn, gateway-api, cilium",
		"kubevirt v0.1.10 github.com/kubernetes-sigs/cluster-api-provider-kubevirt",
	} {
		if !slices.ContainsFunc(lines, func(line string) bool { return oneLine(line) == want }) {
			t.Errorf("%q is not in\n%s", want, strings.Join(lines, "\n"))
		}
	}
}

// TestADirectoryThatLacksAddonsIsRefused: all that is missing is named before
// anything is created, and no other source is asked.
func TestADirectoryThatLacksAddonsIsRefused(t *testing.T) {
	a := newAdm(t)
	dir := t.TempDir()
	r := a.run(a.bootstrap("--charts", dir)...)
	for _, want := range []string{"chart cilium 1.17.0 is not at " + dir, "chart longhorn 1.7.2 is not at " + dir, "core-components.yaml of cluster-api v1.9.4 is not at " + dir, "butleradm addons pull", "nothing was changed"} {
		if r.code != 2 || !strings.Contains(r.err, want) {
			t.Errorf("exit %d, %q is not in\n%s", r.code, want, r.err)
		}
	}
	if _, err := os.Stat(filepath.Join(a.home, "rehearsals")); !os.IsNotExist(err) {
		t.Errorf("something was made: %v", err)
	}
}

// TestControllerEndsWithItsInput: that is how those of a simulated cluster end
// when their simulator does.
func TestControllerEndsWithItsInput(t *testing.T) {
	a := newAdm(t)
	if r := a.ok("controller", "--network", "127.0.0.1:1", "butler-provider-harvester", "--version"); !strings.HasPrefix(r.out, "butler-provider-harvester v") {
		t.Errorf("said %s", r.out)
	}
	dir := filepath.Join(a.home, "plane")
	a.withPlane(dir, func(client.Client) {
		cmd, _, said := a.command("controller", "butler-controller", "--kubeconfig", filepath.Join(dir, "kubeconfig"))
		input, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, func() bool { return strings.Contains(said.String(), "Starting workers") })
		if err := input.Close(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v\n%s", err, said)
		}
	})
}

// TestPulledAddonsAreWhatAnAirGappedSiteNeeds: what was pulled can be pulled
// from again, unchanged.
func TestPulledAddonsAreWhatAnAirGappedSiteNeeds(t *testing.T) {
	a := newAdm(t)
	manifest := file(t, "c.yaml", edited(t, example)+addonsNone+"  controlPlaneExposure: {mode: Gateway, hostname: '*.example.com', gatewayRef: a/b}\n")
	from := filepath.Dir(file(t, "gateway-api-v1.2.1.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: gateway}\n"))
	to := filepath.Join(t.TempDir(), "a b")
	first := a.ok("addons", "pull", "-c", manifest, "--charts", from, "--to", to)
	for _, want := range []string{"gateway-api v1.2.1\n  from " + from + "\n  sha256:", "--charts '" + to + "'\n"} {
		if !strings.Contains(first.out+first.err, want) {
			t.Errorf("%q is not in\n%s%s", want, first.out, first.err)
		}
	}
	if want := "fetching gateway-api v1.2.1 (0 of 1, 0%)\nfetched (1 of 1, 100%)\n"; !strings.HasPrefix(first.err, want) {
		t.Errorf("its progress is\n%s", first.err)
	}
	again := a.ok("addons", "pull", "-c", manifest, "--charts", to, "--to", t.TempDir())
	if _, digest, _ := strings.Cut(first.out, "sha256:"); digest == "" || !strings.HasSuffix(again.out, digest) {
		t.Errorf("pulled\n%s, then\n%s", first.out, again.out)
	}
	if r := a.run("addons", "pull", "-c", example, "--charts", from, "--to", to); r.code != 1 || !strings.Contains(r.err, "cilium 1.17.0") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}
