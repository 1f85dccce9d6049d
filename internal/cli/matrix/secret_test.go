// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// secretKeys are the names under which kubeconfigs, talosconfigs and the bundle of a
// cluster's secrets hold what must stay secret.
var secretKeys = []string{"key", "token", "bootstraptoken", "secret", "secretboxencryptionsecret", "client-key-data", "private_key"}

// takeIn learns what must not be printed: the secrets of the cluster.
func (a *adm) takeIn(here client.Client) {
	a.Helper()
	for _, name := range []string{"talos-secrets", "kubeconfig", "talosconfig"} {
		secret := &corev1.Secret{}
		if err := here.Get(a.Context(), client.ObjectKey{Namespace: a.namespace, Name: cluster + "-" + name}, secret); err != nil {
			a.Error(err)
		}
		for _, value := range secret.Data {
			a.canaries = append(a.canaries, secretsOf(value)...)
		}
	}
	a.takeInPlatforms()
	if len(a.canaries) < 4 {
		a.Errorf("only %d secrets are known", len(a.canaries))
	}
}

// takeInPlatforms learns the credentials of the platform.
func (a *adm) takeInPlatforms() {
	a.Helper()
	data, err := os.ReadFile(a.state("sim/" + a.credentials))
	if err != nil {
		a.Error(err)
	}
	secrets := secretsOf(data)
	if len(secrets) == 0 {
		secrets = []string{strings.TrimSpace(string(data))}
	}
	a.canaries = append(a.canaries, secrets...)
}

// secretsOf are the secrets of a YAML text.
func secretsOf(text []byte) (out []string) {
	var v any
	if yaml.Unmarshal(text, &v) != nil {
		return nil // it is none
	}
	return collect(v)
}

func collect(v any) (out []string) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			out = append(out, collect(item)...)
		}
	case map[string]any:
		for key, item := range v {
			if text, ok := item.(string); ok && len(text) > 16 && slices.Contains(secretKeys, strings.ToLower(key)) {
				out = append(out, linesOf(text)...)
			}
			out = append(out, collect(item)...)
		}
	}
	return out
}

// linesOf are the lines of a secret that are long enough to be known again: its line ends
// are written in several ways.
func linesOf(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return len(line) <= 16 || strings.HasPrefix(line, "-----") })
}

// expectNoSecretShown looks at all that a plane shows to those who may read events
// and statuses.
func (a *adm) expectNoSecretShown(c client.Client) {
	a.Helper()
	var events corev1.EventList
	var clusters v1alpha1.ClusterBootstrapList
	var machines v1alpha1.MachineRequestList
	var configs v1alpha1.ProviderConfigList
	for _, list := range []client.ObjectList{&events, &clusters, &machines, &configs} {
		if err := c.List(a.Context(), list); err != nil {
			a.Error(err)
		}
	}
	for _, list := range []any{events, clusters, machines, configs} {
		data, err := json.Marshal(list)
		if err != nil {
			a.Error(err)
		}
		a.expectNoneIn("a plane", data)
	}
}

func (a *adm) expectNoneIn(where string, text []byte) {
	a.Helper()
	if a.reveals(text) {
		a.Errorf("no-secret: %s holds one", where)
	}
}

func (a *adm) reveals(text []byte) bool {
	return slices.ContainsFunc(a.canaries, func(secret string) bool { return bytes.Contains(text, []byte(secret)) })
}

// expectNoSecret looks at everything that was printed, and at every file.
func (a *adm) expectNoSecret() {
	a.Helper()
	a.expectNoneIn("the output", []byte(a.said.String()))
	for _, path := range a.leaks() {
		a.Errorf("no-secret: %s holds one", path)
	}
}

// leaks are the logs, and the files that others may read, with a secret in them.
func (a *adm) leaks() (out []string) {
	a.Helper()
	seen := 0
	err := filepath.WalkDir(a.home, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err != nil || info.Mode().Perm()&0o077 == 0 && !strings.Contains(filepath.Base(path), ".log") {
			return err
		}
		data, err := os.ReadFile(path)
		seen++
		if a.reveals(data) {
			out = append(out, path)
		}
		return err
	})
	if err != nil || seen == 0 {
		a.Errorf("%d files were looked at: %v", seen, err)
	}
	return out
}
