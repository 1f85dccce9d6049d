// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// TestOneVerifiedAndOneInsecurePrism connects to two servers in one process: that the one
// accepts any certificate must have no effect on the other, nor on http.DefaultTransport.
func TestOneVerifiedAndOneInsecurePrism(t *testing.T) {
	before := http.DefaultTransport.(*http.Transport).TLSClientConfig
	first, _ := server(t, answers{"POST /clusters/list": {central}})
	second, _ := server(t, answers{"POST /clusters/list": {central}})
	insecure := at(t, first, func(c *provider.Config) {
		c.Spec.Nutanix.Insecure = true
		c.Credentials = provider.NewCredentials(map[string][]byte{v1alpha1.KeyUsername: []byte("butler"), v1alpha1.KeyPassword: []byte("p")})
	})
	untrusted := at(t, second, func(c *provider.Config) { c.Credentials = insecure.Credentials })
	for range 2 {
		for name, c := range map[string]struct {
			provider.Config
			reason string
		}{
			"insecure": {insecure, ""}, "verified": {at(t, second), ""}, "untrusted": {untrusted, provider.ReasonCertificateRefused},
		} {
			p, err := Provider().Open(t.Context(), c.Config)
			if c.reason == "" && err != nil || c.reason != "" && provider.ReasonOf(err) != c.reason {
				t.Errorf("%s: %v", name, err)
			}
			if err == nil {
				p.Close()
			}
		}
	}
	if after := http.DefaultTransport.(*http.Transport).TLSClientConfig; after != before {
		t.Error("the TLS settings of http.DefaultTransport were replaced")
	}
}

// TestConnectionsThatCannotWorkSayWhatToDo is the table of wrong endpoints and credentials.
func TestConnectionsThatCannotWorkSayWhatToDo(t *testing.T) {
	const refused = `401 {"state":"ERROR","code":401,"message_list":[{"message":"Authentication required.","reason":"AUTHENTICATION_REQUIRED"}]}`
	secret := func(data map[string]string) func(*provider.Config) {
		return func(c *provider.Config) {
			all := map[string][]byte{v1alpha1.KeyCABundle: c.Credentials.Get(v1alpha1.KeyCABundle)}
			for k, v := range data {
				all[k] = []byte(v)
			}
			c.Credentials = provider.NewCredentials(all)
		}
	}
	none := func(*provider.Config) {}
	for name, c := range map[string]struct {
		answer string
		change func(*provider.Config)
		kind   provider.Kind
		reason string
		says   string
	}{
		"wrong password":        {refused, none, provider.Unauthorized, provider.ReasonCredentialsRefused, "Authentication required.; correct the credentials"},
		"wrong API key":         {refused, secret(map[string]string{"apiKey": "k"}), provider.Unauthorized, provider.ReasonCredentialsRefused, "check the API key"},
		"no permission":         {`403 {"state":"ERROR","message_list":[{"message":"Access denied.","reason":"ACCESS_DENIED"}]}`, none, provider.Unauthorized, provider.ReasonPermissionDenied, "see docs/getting-started/nutanix.md"},
		"v3 is not served":      {`404 {"state":"ERROR","message_list":[{"message":"The API v3 was removed.","reason":"NOT_FOUND"}]}`, none, provider.Invalid, provider.ReasonEndpointForeign, "does not serve the API v3 of Prism Central"},
		"another server":        {"200 <html>Welcome</html>", none, provider.Invalid, provider.ReasonEndpointForeign, "does not serve the API v3"},
		"a redirect":            {"302 elsewhere", none, provider.Invalid, provider.ReasonEndpointForeign, "does not serve the API v3"},
		"too many requests":     {"429 later", none, provider.Unavailable, provider.ReasonPlatformThrottled, "it is retried"},
		"no server":             {central, func(c *provider.Config) { c.Spec.Nutanix.Endpoint, c.Spec.Nutanix.Port = "https://127.0.0.1", 1 }, provider.Unavailable, provider.ReasonPlatformUnreachable, "check spec.nutanix.endpoint"},
		"two ports":             {central, func(c *provider.Config) { c.Spec.Nutanix.Port = 9440 }, provider.Invalid, reasonEndpoint, "remove the port from the endpoint"},
		"no password":           {central, secret(map[string]string{"username": "u"}), provider.Unauthorized, provider.ReasonCredentialsIncomplete, `no key "password"`},
		"user and API key":      {central, secret(map[string]string{"username": "u", "password": "p", "apiKey": "k"}), provider.Unauthorized, provider.ReasonCredentialsIncomplete, "keep one of them"},
		"no certificate":        {central, secret(map[string]string{"username": "u", "password": "p", "caBundle": "x"}), provider.Invalid, provider.ReasonCertificateRefused, "correct the key caBundle"},
		"the Secret of another": {central, secret(map[string]string{"username": "u", "password": "p", "endpoint": "https://other.example.com"}), provider.Invalid, provider.ReasonEndpointNotConfirmed, "are not sent there"},
		"no block":              {central, func(c *provider.Config) { c.Spec.Nutanix = nil }, provider.Invalid, provider.ReasonSettingsMissing, "set spec.nutanix"},
		"a network of its own":  {central, func(c *provider.Config) { c.Spec.Network = &v1alpha1.ProviderNetworkSpec{Gateway: "10.0.0.1"} }, provider.Invalid, provider.ReasonFieldUnsupported, "spec.network.gateway has no effect"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := server(t, answers{"POST /clusters/list": {c.answer}})
			_, err := Provider().Open(t.Context(), at(t, s, c.change))
			if err == nil || provider.KindOf(err) != c.kind || provider.ReasonOf(err) != c.reason || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s %s: %v", provider.KindOf(err), provider.ReasonOf(err), err)
			}
			if err != nil && strings.Contains(err.Error(), "a password") {
				t.Errorf("the password is in %v", err)
			}
		})
	}
}

// TestAnAPIKeyIsSentAsTheVendorSendsIt, without a user.
func TestAnAPIKeyIsSentAsTheVendorSendsIt(t *testing.T) {
	for name, c := range map[string]struct {
		data map[string][]byte
		want [2]string
	}{
		"key":  {map[string][]byte{"apiKey": []byte("key-1\n")}, [2]string{"", "key-1"}},
		"user": {map[string][]byte{"username": []byte("butler"), "password": []byte("p")}, [2]string{"Basic YnV0bGVyOnA=", ""}},
	} {
		sign, err := signer("test", provider.NewCredentials(c.data))
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodGet, "https://prism.example.com", http.NoBody)
		sign(r)
		if got := [2]string{r.Header.Get("Authorization"), r.Header.Get(keyHeader)}; got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
