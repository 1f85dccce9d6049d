// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
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
	read := func(content []byte) (map[string][]byte, error) {
		return login().FromFile(&v1alpha1.ProviderConfig{}, content)
	}
	providertest.CredentialFiles(t, read, map[string]providertest.CredentialFile{
		"a key":                     {Content: key, Want: map[string]string{"serviceAccountKey": key}},
		"a federation":              {Content: text, Want: map[string]string{"externalAccount": text, "subjectToken": "abc"}},
		"a federation with JSON":    {Content: json, Want: map[string]string{"externalAccount": json, "subjectToken": "abc"}},
		"a federation without file": {Content: `{"type":"external_account","credential_source":{"executable":{"command":"secret-content"}}}`},
		"a file that is not there":  {Content: `{"type":"external_account","credential_source":{"file":"/none"}}`},
		"the keys of the Secret":    {Content: "serviceAccountKey: '{}'\nendpoint: https://x\n", Want: map[string]string{"serviceAccountKey": "{}", "endpoint": "https://x"}},
		"a user's login":            {Content: `{"type":"authorized_user","refresh_token":"secret-content"}`},
		"a key of another platform": {Content: "kubeconfig: secret-content\n"},
		"something else":            {Content: "secret-content"},
		"nothing":                   {Content: ""},
	})
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
