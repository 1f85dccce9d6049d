// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/internal/sim/standin"
)

func TestOnlyImagesOfThisProjectRunForReal(t *testing.T) {
	for image, want := range map[string]string{
		"ghcr.io/butlerdotdev/butler-controller:v1":                     "butler-controller",
		"registry.example.com:5000/mirror/butler-bootstrap@sha256:00":   "butler-bootstrap",
		"butler-provider-harvester":                                     "butler-provider-harvester",
		"ghcr.io/butlerdotdev/butler-console:v1":                        "",
		"ghcr.io/butlerdotdev/butler-controller-tools:v1":               "",
		"ghcr.io/butler-controller/other:v1":                            "",
		"registry.example.com:5000/butler-provider-proxmox:v1@sha256:0": "butler-provider-proxmox",
	} {
		name, ok := controllerOf(image)
		if ok != (want != "") || ok && name != want {
			t.Errorf("%s: %q, %v; want %q", image, name, ok, want)
		}
	}
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: "butler-controller"}, {Image: "other"}}}}
	if got := (Controllers{Command: []string{"run"}}).of(pod); len(got) != 1 {
		t.Errorf("controllers: %v", got)
	}
	if got := (Controllers{}).of(pod); len(got) != 0 {
		t.Errorf("controllers without a command: %v", got)
	}
}

// TestClusterAPIRunsWithItsOwnDefinitions: the program in a rehearsal is of one release.
func TestClusterAPIRunsWithItsOwnDefinitions(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: "registry.k8s.io/cluster-api/cluster-api-controller:v1.9.4"}}}}
	for reason, want := range map[string]int{"a release's own components": 0, "a stand-in": 1} {
		if want > 0 {
			pod.Annotations = map[string]string{standin.Addon: "capi"}
		} else {
			pod.Annotations = nil
		}
		if got := (Controllers{Command: []string{"run"}}).of(pod); len(got) != want {
			t.Errorf("%s: %v", reason, got)
		}
	}
}

func TestControllerGetsItsArgumentsWithAddressesOfItsOwn(t *testing.T) {
	env := []corev1.EnvVar{{Name: "NS", Value: "butler-system"}}
	own := []string{"--health-probe-bind-address=127.0.0.1:1", "--metrics-bind-address=127.0.0.1:2"}
	for reason, tc := range map[string]struct {
		container corev1.Container
		want      []string
	}{
		"none":             {corev1.Container{}, nil},
		"in one word":      {corev1.Container{Args: []string{"--a", "--health-probe-bind-address=:8081", "-metrics-bind-address=0", "b"}}, []string{"--a", "b"}},
		"in two":           {corev1.Container{Args: []string{"--metrics-bind-address", ":8080", "--a"}}, []string{"--a"}},
		"of the command":   {corev1.Container{Command: []string{"/butler", "--a"}, Args: []string{"--b"}}, []string{"--a", "--b"}},
		"with a variable":  {corev1.Container{Args: []string{"--namespace=$(NS)", "$(OTHER)"}}, []string{"--namespace=butler-system", "$(OTHER)"}},
		"with such a word": {corev1.Container{Args: []string{"metrics-bind-address"}}, []string{"metrics-bind-address"}},
	} {
		got := arguments(tc.container, env, "127.0.0.1:1", "127.0.0.1:2")
		if diff := cmp.Diff(append(tc.want, own...), got); diff != "" {
			t.Errorf("%s: %s", reason, diff)
		}
	}
}

func TestControllerSeesItsPodAndNothingElse(t *testing.T) {
	pod := addonPod(corev1.RestartPolicyAlways)
	field := func(path string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
	}
	p := &process{pod: pod, container: corev1.Container{Env: []corev1.EnvVar{{Name: "A", Value: "a"}, {Name: "NS", ValueFrom: field("metadata.namespace")}}}}
	env, err := p.environment()
	if diff := cmp.Diff([]string{"a", "ns"}, []string{env[0].Value, env[1].Value}); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for _, from := range []*corev1.EnvVarSource{field("metadata.labels"), {SecretKeyRef: &corev1.SecretKeySelector{}}} {
		p.container.Env = []corev1.EnvVar{{Name: "SECRET", ValueFrom: from}}
		if _, err := p.environment(); err == nil || !strings.Contains(err.Error(), "SECRET") {
			t.Errorf("a variable that it cannot have: %v", err)
		}
	}
	t.Setenv("SOME_TOKEN", "of the user")
	for _, e := range inherited() {
		if strings.HasPrefix(e, "SOME_TOKEN=") {
			t.Error("a controller sees the environment of this process")
		}
	}
}

func TestNetworkOfServicesFindsAPlaceForItsSocket(t *testing.T) {
	deep := filepath.Join(t.TempDir(), strings.Repeat("d", longestSocket))
	if err := os.Mkdir(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	s := &Services{}
	first, err := s.open(deep)
	if err != nil {
		t.Fatal(err)
	}
	ca := s.authority()
	second, err := s.open(deep)
	if err != nil {
		t.Fatal(err)
	}
	if string(s.authority()) != string(ca) {
		t.Error("another authority after a restart")
	}
	for _, e := range []*egress{first, second} {
		if path := e.Addr().String(); len(path) > longestSocket {
			t.Errorf("socket %s", path)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}
