// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"testing"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/providertest"
)

func TestFilesOfCredentials(t *testing.T) {
	all := map[string]string{"clientID": "c", "clientSecret": "s", "tenantID": "t"}
	providertest.CredentialFiles(t, readFile, map[string]providertest.CredentialFile{
		"keys of the Secret":       {Content: "clientID: c\nclientSecret: s\ntenantID: t\n", Want: all},
		"az ad sp create-for-rbac": {Content: `{"appId":"c","displayName":"butler","password":"s","tenant":"t"}`, Want: all},
		"the older form":           {Content: `{"clientId":"c","clientSecret":"s","tenantId":"t","subscriptionId":"u","managementEndpointUrl":"https://x"}`, Want: map[string]string{"clientID": "c", "clientSecret": "s", "tenantID": "t", "subscriptionID": "u"}},
		"an unknown key":           {Content: "clientID: c\npassphrase: secret-content\n"},
		"no YAML":                  {Content: "secret-content"},
		"empty":                    {Content: ""},
	})
}

func TestLifetimeOfTokens(t *testing.T) {
	for name, c := range map[string]struct {
		data map[string]string
		want bool
	}{
		"a secret":                {map[string]string{"clientSecret": "s"}, false},
		"a certificate":           {map[string]string{"clientCertificate": "s"}, false},
		"a token":                 {map[string]string{"federatedToken": "opaque"}, true},
		"a secret beside a token": {map[string]string{"federatedToken": "opaque", "clientSecret": "s"}, false},
	} {
		data := map[string][]byte{}
		for k, v := range c.data {
			data[k] = []byte(v)
		}
		if l := lifetime(provider.NewCredentials(data)); l.Temporary != c.want || !l.Ends.IsZero() {
			t.Errorf("%s: %+v", name, l)
		}
	}
}
