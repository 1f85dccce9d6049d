// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

func TestFilesOfCredentials(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"token": " abc \n", "token.json": `{"id":"abc"}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	key := `{"type":"service_account","client_email":"x"}`
	text := `{"type":"external_account","credential_source":{"file":"` + dir + `/token"}}`
	json := `{"type":"external_account","credential_source":{"file":"` + dir + `/token.json","format":{"type":"json","subject_token_field_name":"id"}}}`
	for name, c := range map[string]struct {
		content string
		want    map[string]string // nil: refused
	}{
		"a key":                     {key, map[string]string{"serviceAccountKey": key}},
		"a federation":              {text, map[string]string{"externalAccount": text, "subjectToken": "abc"}},
		"a federation with JSON":    {json, map[string]string{"externalAccount": json, "subjectToken": "abc"}},
		"a federation without file": {`{"type":"external_account","credential_source":{"executable":{"command":"secret-content"}}}`, nil},
		"a file that is not there":  {`{"type":"external_account","credential_source":{"file":"/none"}}`, nil},
		"the keys of the Secret":    {"serviceAccountKey: '{}'\nendpoint: https://x\n", map[string]string{"serviceAccountKey": "{}", "endpoint": "https://x"}},
		"a user's login":            {`{"type":"authorized_user","refresh_token":"secret-content"}`, nil},
		"a key of another platform": {"kubeconfig: secret-content\n", nil},
		"something else":            {"secret-content", nil},
		"nothing":                   {"", nil},
	} {
		data, err := login().FromFile(&v1alpha1.ProviderConfig{}, []byte(c.content))
		got := map[string]string{}
		for k, v := range data {
			got[k] = string(v)
		}
		if c.want == nil {
			if err == nil || strings.Contains(err.Error(), "secret-content") {
				t.Errorf("%s: %v, %v", name, got, err)
			}
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

func TestPlaceOfMachines(t *testing.T) {
	c := &v1alpha1.ProviderConfig{}
	if got := place(c, provider.Credentials{}); got != nil {
		t.Errorf("without settings: %v", got)
	}
	c.Spec.GCP = &v1alpha1.GCPSpec{ProjectID: "p", Region: "r", Endpoint: "http://emulator:5000"}
	key := provider.NewCredentials(map[string][]byte{v1alpha1.KeyServiceAccountKey: []byte(`{"client_email":"x@p"}`)})
	if diff := cmp.Diff([]string{"http://emulator:5000", "project p", "region r", "account x@p"}, place(c, key)); diff != "" {
		t.Error(diff)
	}
	c.Spec.GCP.Zone = "r-a"
	if got := place(c, provider.Credentials{}); got[2] != "zone r-a" {
		t.Error(got)
	}
}
