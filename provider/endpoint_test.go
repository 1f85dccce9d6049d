// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"cmp"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

func TestCredentialsAreSentToTheirOwnServerAlone(t *testing.T) {
	const server = "https://platform.example.com:6443"
	for reason, x := range map[string]struct {
		endpoint, confirmed string
		sent                bool
	}{
		"no endpoint":               {"", "", true},
		"the same":                  {server, "", true},
		"another case and port":     {"https://Platform.Example.com", "", true},
		"another host":              {"https://evil.example.com:6443", "", false},
		"a name that ends the same": {"https://evil-platform.example.com:6443", "", false},
		"a user that looks like it": {"https://platform.example.com@evil.example.com", "", false},
		"without TLS":               {"http://platform.example.com:6443", "", false},
		"no URL":                    {"platform.example.com", "", false},
		"confirmed":                 {"https://10.0.0.1:6443", "https://10.0.0.1:6443", true},
		"another one is confirmed":  {"https://10.0.0.1:6443", "https://10.0.0.2:6443", false},
	} {
		c := NewCredentials(map[string][]byte{v1alpha1.KeyEndpoint: []byte(x.confirmed)})
		to, err := c.Endpoint("connect", "spec.example.endpoint", x.endpoint, server)
		if want := cmp.Or(x.endpoint, server); x.sent && (err != nil || to != want) {
			t.Errorf("%s: sent to %q, not to %q: %v", reason, to, want, err)
		}
		if !x.sent && (ReasonOf(err) != ReasonEndpointNotConfirmed || KindOf(err) != Invalid) {
			t.Errorf("%s: sent to %q: %v", reason, to, err)
		}
	}
}

// TestCredentialsWithoutAServerNeedAConfirmedEndpoint: a user name and a password say
// nothing about where they belong.
func TestCredentialsWithoutAServerNeedAConfirmedEndpoint(t *testing.T) {
	if _, err := (Credentials{}).Endpoint("connect", "spec.example.endpoint", "https://any.example", ""); ReasonOf(err) != ReasonEndpointNotConfirmed {
		t.Errorf("got %v", err)
	}
}
