// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/provider"
)

func TestFilesOfCredentials(t *testing.T) {
	all := map[string]string{"clientID": "c", "clientSecret": "s", "tenantID": "t"}
	for name, c := range map[string]struct {
		content string
		want    map[string]string
	}{
		"keys of the Secret":       {"clientID: c\nclientSecret: s\ntenantID: t\n", all},
		"az ad sp create-for-rbac": {`{"appId":"c","displayName":"butler","password":"s","tenant":"t"}`, all},
		"the older form":           {`{"clientId":"c","clientSecret":"s","tenantId":"t","subscriptionId":"u","managementEndpointUrl":"https://x"}`, map[string]string{"clientID": "c", "clientSecret": "s", "tenantID": "t", "subscriptionID": "u"}},
		"an unknown key":           {"clientID: c\npassphrase: topsecret\n", nil},
		"no YAML":                  {"topsecret", nil},
		"empty":                    {"", nil},
	} {
		data, err := readFile([]byte(c.content))
		var got map[string]string
		for k, v := range data {
			if got == nil {
				got = map[string]string{}
			}
			got[k] = string(v)
		}
		if diff := cmp.Diff(c.want, got); diff != "" || (err == nil) != (c.want != nil) {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
		if err != nil && strings.Contains(err.Error(), "topsecret") {
			t.Errorf("%s: the error repeats the content: %v", name, err)
		}
	}
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
