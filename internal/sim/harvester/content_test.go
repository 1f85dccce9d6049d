// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/internal/sim/audit"
)

// secret is a Secret with user data, as it is written to the platform.
func secret(t *testing.T, name, userData string) []byte {
	t.Helper()
	s := corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{"userdata": []byte(userData)}}
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestTheConfigurationOfAWorkerAloneMayTravel has what the audit looks for, in Secrets that it
// must not overlook.
func TestTheConfigurationOfAWorkerAloneMayTravel(t *testing.T) {
	const (
		worker       = "version: v1alpha1\nmachine:\n  type: worker\n  token: abc.def\n  ca:\n    crt: LS0t\ncluster:\n  token: aaaaaa.aaaaaaaaaaaaaaaa\n"
		controlPlane = "version: v1alpha1\nmachine:\n  type: controlplane\n  token: abc.def\n  ca:\n    crt: LS0t\n    key: LS0t\n"
		forged       = "version: v1alpha1\nmachine:\n  type: worker\n  token: abc.def\n  ca:\n    crt: LS0t\n    key: LS0t\n"
	)
	if !audit.Configures([]byte(worker)) || !audit.Configures([]byte(controlPlane)) {
		t.Fatal("these are no configurations to the audit: the test says nothing")
	}
	for reason, tc := range map[string]struct {
		body   []byte
		passes bool
	}{
		"the configuration of a worker":         {secret(t, "shop-workers-a-userdata", worker), true},
		"one with another name":                 {secret(t, "shop", worker), false},
		"one of a control plane":                {secret(t, "shop-userdata", controlPlane), false},
		"a worker with the key of an authority": {secret(t, "shop-userdata", forged), false},
		"no configuration":                      {secret(t, "shop-userdata", "-----BEGIN RSA PRIVATE KEY-----"), false},
		"no Secret":                             {[]byte(strings.Replace(string(secret(t, "shop-userdata", worker)), `"Secret"`, `"ConfigMap"`, 1)), false},
		"what is no JSON":                       {[]byte("kind: Secret"), false},
	} {
		t.Run(reason, func(t *testing.T) {
			got := content(tc.body)
			if passes := string(got) != string(tc.body); passes != tc.passes {
				t.Errorf("passes: %v", passes)
			}
			if tc.passes && (strings.Contains(string(got), "userdata\":\"") || !strings.Contains(string(got), "shop-workers-a-userdata")) {
				t.Errorf("the rest is not looked at: %s", got)
			}
		})
	}
}
