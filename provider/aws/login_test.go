// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
)

func TestFilesOfCredentials(t *testing.T) {
	read := func(content []byte) (map[string][]byte, error) {
		return login().FromFile(&v1alpha1.ProviderConfig{}, content)
	}
	providertest.CredentialFiles(t, read, map[string]providertest.CredentialFile{
		"the keys of the Secret":     {Content: "accessKeyID: A\nsecretAccessKey: S\nroleARN: R\nexternalID: X\n", Want: map[string]string{"accessKeyID": "A", "secretAccessKey": "S", "roleARN": "R", "externalID": "X"}},
		"the other spelling":         {Content: "accessKeyId: A\nsecretAccessKey: S\n", Want: map[string]string{"accessKeyID": "A", "secretAccessKey": "S"}},
		"a credentials file":         {Content: "# mine\n[other]\naws_access_key_id = B\n[default]\naws_access_key_id = A\naws_secret_access_key = S=+/\nregion = x\n", Want: map[string]string{"accessKeyID": "A", "secretAccessKey": "S=+/"}},
		"one profile":                {Content: "[profile work]\naws_access_key_id=A\naws_secret_access_key=S\naws_session_token=T\n", Want: map[string]string{"accessKeyID": "A", "secretAccessKey": "S", "sessionToken": "T"}},
		"several, and no default":    {Content: "[a]\naws_access_key_id=A\n[b]\naws_access_key_id=B\n"},
		"what the tools export":      {Content: `{"Version":1,"AccessKeyId":"A","SecretAccessKey":"S","SessionToken":"T","Expiration":"2026-11-16T12:00:00Z"}`, Want: map[string]string{"accessKeyID": "A", "secretAccessKey": "S", "sessionToken": "T", "expiration": "2026-11-16T12:00:00Z"}},
		"a key of another platform":  {Content: "kubeconfig: secret-content\n"},
		"something else":             {Content: "secret-content"},
		"nothing":                    {Content: ""},
		"a profile without anything": {Content: "[default]\nregion = x\n"},
	})
}

func TestPlaceOfMachines(t *testing.T) {
	c := &v1alpha1.ProviderConfig{}
	if got := place(c, provider.Credentials{}); got != nil {
		t.Errorf("without settings: %v", got)
	}
	c.Spec.AWS = &v1alpha1.AWSSpec{Region: "eu-central-1", Endpoint: "http://emulator:5000"}
	got := place(c, provider.NewCredentials(map[string][]byte{v1alpha1.KeyRoleARN: []byte("arn:aws:iam::1:role/x")}))
	if diff := cmp.Diff([]string{"http://emulator:5000", "region eu-central-1", "role arn:aws:iam::1:role/x"}, got); diff != "" {
		t.Error(diff)
	}
}
