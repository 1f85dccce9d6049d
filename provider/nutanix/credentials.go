// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"errors"
	"net/http"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// keyHeader carries an API key, as the vendor's client sends it.
const keyHeader = "X-ntnx-api-key"

// newPrism returns the API of the Prism Central of a ProviderConfig. Every byte goes through
// the transport of the connection; no session is kept.
func newPrism(op string, c provider.Config) (prism, error) {
	base, err := baseOf(op, *c.Spec.Nutanix)
	if err != nil {
		return prism{}, err
	}
	if err := confirm(op, c, base); err != nil {
		return prism{}, err
	}
	sign, err := signer(op, c.Credentials)
	if err != nil {
		return prism{}, err
	}
	tls, err := c.Transport.TLS(provider.Trust{CABundle: c.Credentials.Get(v1alpha1.KeyCABundle), Insecure: c.Spec.Nutanix.Insecure})
	if err != nil {
		return prism{}, provider.Invalid.New(op, provider.ReasonCertificateRefused, err, "correct the key "+v1alpha1.KeyCABundle+" of the Secret")
	}
	client := c.Transport.HTTPClient(tls)
	// A redirect would carry the credentials to another server.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return prism{&caller{http: client, base: base, sign: sign}}, nil
}

// confirm compares the endpoint with that of the Secret, where it has one.
func confirm(op string, c provider.Config, base string) error {
	if c.Credentials.Get(v1alpha1.KeyEndpoint) == nil {
		return nil
	}
	_, err := c.Credentials.Endpoint(op, "spec.nutanix.endpoint", base, "")
	return err
}

// signer adds user and password, or the API key, to requests.
func signer(op string, c provider.Credentials) (func(*http.Request), error) {
	key := strings.TrimSpace(string(c.Get(v1alpha1.KeyAPIKey)))
	user, password := c.Get(v1alpha1.KeyUsername), c.Get(v1alpha1.KeyPassword)
	if key != "" {
		if user != nil || password != nil {
			return nil, provider.Unauthorized.New(op, provider.ReasonCredentialsIncomplete, errors.New("the Secret has an API key and a user or password"), "keep one of them")
		}
		return func(r *http.Request) { r.Header.Set(keyHeader, key) }, nil
	}
	for _, required := range []string{v1alpha1.KeyUsername, v1alpha1.KeyPassword} {
		if _, err := c.Require(op, required, "set username and password of a user of Prism Central, or apiKey"); err != nil {
			return nil, err
		}
	}
	return func(r *http.Request) { r.SetBasicAuth(strings.TrimSpace(string(user)), string(password)) }, nil
}

// keyRefused explains that an API key was not accepted: older versions know none.
func keyRefused(c provider.Credentials, err error) error {
	e, ok := errors.AsType[*provider.Error](err)
	if ok && e.Reason == provider.ReasonCredentialsRefused && c.Get(v1alpha1.KeyAPIKey) != nil {
		e.Hint = "check the API key of the Secret; a Prism Central that does not accept API keys for its API v3 needs username and password"
	}
	return err
}
