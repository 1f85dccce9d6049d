// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"bytes"
	"strings"
	"testing"

	clientconfig "github.com/siderolabs/talos/pkg/machinery/client/config"
)

func TestSecretsRoundTrip(t *testing.T) {
	data, err := NewSecrets("v1.13.0")
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := parseSecrets(data)
	if err != nil {
		t.Fatal(err)
	}
	again, err := encodeSecrets(bundle)
	if err != nil || !bytes.Equal(data, again) {
		t.Errorf("decoding and encoding changed the bundle (%v)", err)
	}
	other, err := NewSecrets("v1.13.0")
	if err != nil || bytes.Equal(data, other) {
		t.Errorf("two bundles are the same (%v)", err)
	}
	if _, err := NewSecrets("v2.0.0"); err == nil {
		t.Error("secrets for an unknown talos were made")
	}
}

func TestSecretsErrorsDoNotQuote(t *testing.T) {
	whole := string(testSecrets(t))
	for reason, data := range map[string]string{
		"not yaml":   "canary: [",
		"empty":      "",
		"cut short":  whole[:len(whole)/2] + "\ncanary",
		"half empty": "cluster: {id: canary}",
	} {
		_, err := parseSecrets([]byte(data))
		if err == nil {
			t.Errorf("%s: accepted", reason)
		} else if strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: the error quotes the bundle", reason)
		}
	}
	if _, err := parseSecrets([]byte(whole)); err != nil {
		t.Errorf("a whole bundle was refused: %v", err)
	}
}

func TestTalosconfig(t *testing.T) {
	data, err := Talosconfig(testSecrets(t), "dev-cluster", []string{"10.40.0.11", "10.40.0.12"}, []string{"10.40.0.11"})
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := clientconfig.FromBytes(data)
	if err != nil {
		t.Fatal(err)
	}
	current := cfg.Contexts[cfg.Context]
	if cfg.Context != "dev-cluster" || len(current.Endpoints) != 2 || current.Nodes[0] != "10.40.0.11" {
		t.Errorf("context %q, endpoints %v, nodes %v", cfg.Context, current.Endpoints, current.Nodes)
	}
	if _, err := NewClient(data, nil); err != nil {
		t.Errorf("no client from it: %v", err)
	}
}

func TestInstallImage(t *testing.T) {
	for _, tc := range []struct{ platform, version, want string }{
		{"", "v1.9.2", "factory.talos.dev/installer/s:v1.9.2"},
		{"nocloud", "v1.9.2", "factory.talos.dev/installer/s:v1.9.2"},
		{"", "v1.10.0", "factory.talos.dev/metal-installer/s:v1.10.0"},
		{"aws", "v1.13.1", "factory.talos.dev/aws-installer/s:v1.13.1"},
	} {
		if got, err := InstallImage(tc.platform, "s", tc.version); err != nil || got != tc.want {
			t.Errorf("%q %s: %q, %v; want %q", tc.platform, tc.version, got, err, tc.want)
		}
	}
}
