// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

func TestFilesOfCredentials(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		want    map[string]string // nil: refused
	}{
		"the keys of the Secret":     {"accessKeyID: A\nsecretAccessKey: S\nroleARN: R\nexternalID: X\n", map[string]string{"accessKeyID": "A", "secretAccessKey": "S", "roleARN": "R", "externalID": "X"}},
		"the other spelling":         {"accessKeyId: A\nsecretAccessKey: S\n", map[string]string{"accessKeyID": "A", "secretAccessKey": "S"}},
		"a credentials file":         {"# mine\n[other]\naws_access_key_id = B\n[default]\naws_access_key_id = A\naws_secret_access_key = S=+/\nregion = x\n", map[string]string{"accessKeyID": "A", "secretAccessKey": "S=+/"}},
		"one profile":                {"[profile work]\naws_access_key_id=A\naws_secret_access_key=S\naws_session_token=T\n", map[string]string{"accessKeyID": "A", "secretAccessKey": "S", "sessionToken": "T"}},
		"several, and no default":    {"[a]\naws_access_key_id=A\n[b]\naws_access_key_id=B\n", nil},
		"what the tools export":      {`{"Version":1,"AccessKeyId":"A","SecretAccessKey":"S","SessionToken":"T","Expiration":"2026-11-16T12:00:00Z"}`, map[string]string{"accessKeyID": "A", "secretAccessKey": "S", "sessionToken": "T", "expiration": "2026-11-16T12:00:00Z"}},
		"a key of another platform":  {"kubeconfig: secret-content\n", nil},
		"something else":             {"secret-content", nil},
		"nothing":                    {"", nil},
		"a profile without anything": {"[default]\nregion = x\n", nil},
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
	c.Spec.AWS = &v1alpha1.AWSSpec{Region: "eu-central-1", Endpoint: "http://emulator:5000"}
	got := place(c, provider.NewCredentials(map[string][]byte{v1alpha1.KeyRoleARN: []byte("arn:aws:iam::1:role/x")}))
	if diff := cmp.Diff([]string{"http://emulator:5000", "region eu-central-1", "role arn:aws:iam::1:role/x"}, got); diff != "" {
		t.Error(diff)
	}
}
