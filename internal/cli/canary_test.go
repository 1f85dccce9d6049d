// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// canaries are secrets that must not sing: each by the place that it was put to.
type canaries map[string]string

// found names the canaries that a text holds, as they are or as base64.
func (c canaries) found(text []byte) (places []string) {
	for place, secret := range c {
		if bytes.Contains(text, []byte(secret)) || bytes.Contains(text, []byte(base64.StdEncoding.EncodeToString([]byte(secret)))) {
			places = append(places, place)
		}
	}
	slices.Sort(places)
	return places
}

func (c canaries) expectNoneIn(t *testing.T, what string, text []byte) {
	t.Helper()
	if places := c.found(text); len(places) > 0 {
		t.Errorf("%s holds the secret of %s", what, strings.Join(places, ", "))
	}
}

// expectNoneOnDisk looks into every log, and into every file that others may
// read.
func (c canaries) expectNoneOnDisk(t *testing.T, dir string) {
	t.Helper()
	seen := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 == 0 && filepath.Ext(path) != ".log" {
			return nil
		}
		data, err := os.ReadFile(path)
		seen++
		c.expectNoneIn(t, path, data)
		return err
	})
	if err != nil || seen == 0 {
		t.Errorf("%d files of %s were looked at: %v", seen, dir, err)
	}
}

// expectNoneInObjects looks at all that a plane shows to those who may read
// events and statuses.
func (c canaries) expectNoneInObjects(t *testing.T, api client.Client) {
	t.Helper()
	var events corev1.EventList
	var clusters v1alpha1.ClusterBootstrapList
	var machines v1alpha1.MachineRequestList
	var configs v1alpha1.ProviderConfigList
	for _, list := range []client.ObjectList{&events, &clusters, &machines, &configs} {
		if err := api.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
	if len(events.Items) == 0 || len(configs.Items) == 0 {
		t.Fatalf("%d events, %d configs", len(events.Items), len(configs.Items))
	}
	shown := []any{events}
	for _, o := range clusters.Items {
		shown = append(shown, o.Status)
	}
	for _, o := range machines.Items {
		shown = append(shown, o.Status)
	}
	for _, o := range configs.Items {
		shown = append(shown, o.Status, o.Spec)
	}
	for _, v := range shown {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		c.expectNoneIn(t, "the plane", data)
	}
}

// secretKeys are the names under which the bundle of a cluster's secrets, its
// kubeconfig and its talosconfig hold what must stay secret.
var secretKeys = []string{"key", "token", "bootstraptoken", "secret", "secretboxencryptionsecret", "client-key-data"}

// takeIn adds all secrets of a YAML text.
func (c canaries) takeIn(t *testing.T, place string, text []byte) {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	before := len(c)
	c.collect(place, v)
	if len(c) == before {
		t.Fatalf("%s has no secret", place)
	}
}

func (c canaries) collect(path string, v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			c.collect(path, item)
		}
	case map[string]any:
		for key, item := range v {
			if text, ok := item.(string); ok && len(text) > 16 && slices.Contains(secretKeys, strings.ToLower(key)) {
				c[path+"."+key] = text
			}
			c.collect(path+"."+key, item)
		}
	}
}

// withPlane runs the plane in a directory while f looks at it.
func (a adm) withPlane(dir string, f func(client.Client)) {
	a.Helper()
	cmd, out, _ := a.command("plane", "--state-dir", dir)
	if err := cmd.Start(); err != nil {
		a.Fatal(err)
	}
	defer func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			a.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			a.Error(err)
		}
	}()
	waitFor(a.T, func() bool { return strings.Contains(out.String(), "ready in") })
	f(a.planeClient(dir))
}

// planeClient reads a plane that runs.
func (a adm) planeClient(dir string) client.Client {
	a.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "kubeconfig"))
	if err != nil {
		a.Fatal(err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			a.Fatal(err)
		}
	}
	c, err := client.New(a.config(data), client.Options{Scheme: scheme})
	if err != nil {
		a.Fatal(err)
	}
	return c
}
