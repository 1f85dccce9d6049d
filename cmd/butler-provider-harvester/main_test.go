// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/pki"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	sim "github.com/butlerdotdev/butler/internal/sim/harvester"
	"github.com/butlerdotdev/butler/internal/sim/network"
)

const (
	namespace = "butler-system"
	secret    = "harvester-kubeconfig"
)

func binary(t testing.TB) string {
	t.Helper()
	path, err := planetest.Build(t.Context(), "github.com/butlerdotdev/butler/cmd/butler-provider-harvester")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestVersionAndWrongArguments(t *testing.T) {
	out, err := exec.Command(binary(t), "--version").Output()
	if err != nil || !strings.HasPrefix(string(out), "butler-provider-harvester v") {
		t.Errorf("--version says %q, %v", out, err)
	}
	for _, args := range [][]string{{"--no-such-flag"}, {"stray"}, {"--kubeconfig", "/does/not/exist"}} {
		out, err := exec.Command(binary(t), args...).CombinedOutput()
		if err == nil || len(out) == 0 {
			t.Errorf("%v says %q, %v", args, out, err)
		}
	}
}

// TestARequestRunsAndIsGoneAgain is the way of a user: a cluster with the CRDs, a
// Harvester, the binary, and the manifests of the documentation.
func TestARequestRunsAndIsGoneAgain(t *testing.T) {
	log.SetLogger(logr.Discard())
	p := planetest.Start(t, plane.Options{AdmissionOff: []string{"ServiceAccount"}})
	harvester := platform(t, datacenter.Profile{})
	c := cluster(t, p)
	logs := started(t, binary(t), limited(t, p, c))

	config, r := configure(t, c, harvester), &v1alpha1.MachineRequest{}
	documented(t, "contributing/try-a-provider.md", r)
	r.Spec.UserData += "# canary " + strings.Repeat("x", 3000)
	began := time.Now()
	must(t, c.Create(t.Context(), r))
	await(t, logs, func() error {
		must(t, c.Get(t.Context(), client.ObjectKeyFromObject(r), r))
		if r.Status.Phase != v1alpha1.MachineRunning || r.Status.IPAddress == "" {
			return fmt.Errorf("status is %+v", r.Status)
		}
		return nil
	})
	t.Logf("running at %s after %v", r.Status.IPAddress, time.Since(began).Round(time.Millisecond))
	must(t, c.Get(t.Context(), client.ObjectKeyFromObject(config), config))
	if !config.Status.Ready || !meta.IsStatusConditionTrue(config.Status.Conditions, "Ready") {
		t.Errorf("ProviderConfig status is %+v", config.Status)
	}
	admin := adminOf(t, harvester)
	if n := count(t, admin); n != 5 { // VirtualMachine, its instance, two disks, a Secret
		t.Errorf("%d objects on Harvester", n)
	}
	must(t, c.Delete(t.Context(), r))
	await(t, logs, func() error {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(r), r)
		if err == nil {
			return fmt.Errorf("still there: %+v", r.Status)
		}
		return client.IgnoreNotFound(err)
	})
	if n := count(t, admin); n != 0 {
		t.Errorf("%d objects are left on Harvester", n)
	}
	events(t, c, "VMCreated", "VMRunning", "VMDeleting", "VMDeleted")
	if text := logs.String(); strings.Contains(text, "forbidden") || strings.Contains(text, `"level":"ERROR"`) {
		t.Errorf("the log has errors:\n%s", text)
	}
	if strings.Contains(logs.String(), "canary") || strings.Contains(logs.String(), "client-key-data") {
		t.Error("the log has user data or credentials in it")
	}
}

// configure creates Secret and ProviderConfig.
func configure(t testing.TB, c client.Client, h *sim.Harvester) *v1alpha1.ProviderConfig {
	t.Helper()
	kubeconfig, err := os.ReadFile(h.Kubeconfig())
	must(t, err)
	must(t, c.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: secret},
		Data:       map[string][]byte{"kubeconfig": kubeconfig},
	}))
	config := &v1alpha1.ProviderConfig{}
	documented(t, "contributing/try-a-provider.md", config)
	must(t, c.Create(t.Context(), config))
	return config
}

// platform starts a simulated Harvester in which things take the time of a profile.
func platform(t testing.TB, profile datacenter.Profile) *sim.Harvester {
	t.Helper()
	n := network.New()
	dc, err := datacenter.New(datacenter.Options{
		Dir: t.TempDir(), Network: n, Profile: profile,
		Boot:    func(ctx context.Context, _ datacenter.Machine) error { <-ctx.Done(); return nil },
		Subnets: map[string]datacenter.Subnet{"": {Prefix: netip.MustParsePrefix("10.40.0.0/16")}},
	})
	must(t, err)
	t.Cleanup(dc.Close)
	h, err := sim.Start(t.Context(), sim.Options{Dir: t.TempDir(), Executable: planetest.Executable(t), Datacenter: dc, Network: n, Create: profile.Create})
	must(t, err)
	t.Cleanup(func() {
		if err := h.Stop(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// cluster returns a client of the plane.
func cluster(t testing.TB, p *plane.Plane) client.WithWatch {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, eventsv1.AddToScheme, v1alpha1.AddToScheme} {
		must(t, add(s))
	}
	c, err := client.NewWithWatch(p.Config(), client.Options{Scheme: s})
	must(t, err)
	must(t, c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	return c
}

// secretRights is what the chart adds for a Secret of credentialsSecrets.
const secretRights = `
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: credentials, namespace: butler-system}
rules: [{apiGroups: [""], resources: [secrets], resourceNames: [harvester-kubeconfig], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: credentials, namespace: butler-system}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: credentials}
subjects: [{kind: ServiceAccount, name: butler-provider-harvester, namespace: butler-system}]
`

// limited returns a kubeconfig of the ServiceAccount in config/rbac: with the rights
// of the chart alone.
func limited(t testing.TB, p *plane.Plane, c client.Client) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "config", "rbac", "butler-provider-harvester.yaml"))
	must(t, err)
	for part := range bytes.SplitSeq(append(data, secretRights...), []byte("\n---\n")) {
		o := &unstructured.Unstructured{}
		must(t, yaml.Unmarshal(part, &o.Object))
		must(t, c.Create(t.Context(), o))
	}
	config, err := p.Issue(pki.Request{CommonName: "system:serviceaccount:" + namespace + ":butler-provider-harvester"})
	must(t, err)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, plane.WriteKubeconfig(path, config))
	return path
}

func adminOf(t testing.TB, h *sim.Harvester) client.WithWatch {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", h.AdminKubeconfig())
	must(t, err)
	c, err := client.NewWithWatch(config, client.Options{})
	must(t, err)
	return c
}

// count counts all objects on Harvester that machines consist of.
func count(t testing.TB, c client.Client) int {
	t.Helper()
	n := 0
	for kind, group := range map[string]string{
		"VirtualMachine": "kubevirt.io", "VirtualMachineInstance": "kubevirt.io", "PersistentVolumeClaim": "", "Secret": "",
	} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind + "List"})
		must(t, c.List(t.Context(), list, client.InNamespace("default")))
		n += len(list.Items)
	}
	return n
}

// started runs the binary until the test ends.
func started(t testing.TB, path, kubeconfig string) *planetest.Output {
	t.Helper()
	out := &planetest.Output{}
	cmd := exec.Command(path, "--kubeconfig", kubeconfig, "--leader-elect", "--credentials-secrets", namespace+"/"+secret)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Dir = filepath.Dir(kubeconfig)
	must(t, cmd.Start())
	t.Cleanup(func() {
		must(t, cmd.Process.Signal(syscall.SIGTERM))
		hung := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) })
		defer hung.Stop()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the binary ended with %v:\n%s", err, out)
		}
	})
	return out
}

func events(t testing.TB, c client.Client, reasons ...string) {
	t.Helper()
	await(t, nil, func() error {
		var list eventsv1.EventList
		must(t, c.List(t.Context(), &list, client.InNamespace(namespace)))
		seen := map[string]bool{}
		for _, e := range list.Items {
			seen[e.Reason] = true
		}
		for _, r := range reasons {
			if !seen[r] {
				return fmt.Errorf("no event %s among %v", r, seen)
			}
		}
		return nil
	})
}

func await(t testing.TB, logs *planetest.Output, check func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	if logs != nil {
		t.Logf("log of the binary:\n%s", logs)
	}
	t.Fatal(err)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
