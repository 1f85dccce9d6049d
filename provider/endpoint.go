// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Endpoint returns the URL that credentials are sent to: wanted, which the ProviderConfig
// has in field, else the server that the credentials name themselves. One that the Secret
// does not confirm, by that server or by the key endpoint, is refused: the ProviderConfig
// may have another author than the Secret, who must not receive its credentials.
func (c Credentials) Endpoint(op, field, wanted, server string) (string, error) {
	if wanted == "" || sameServer(wanted, server) || sameServer(wanted, string(c.Get(v1alpha1.KeyEndpoint))) {
		return cmp.Or(wanted, server), nil
	}
	return "", Invalid.New(op, ReasonEndpointNotConfirmed, fmt.Errorf("%s %s is not on the server of the credentials%s: they are not sent there", field, wanted, strings.TrimSuffix(", "+server, ", ")),
		fmt.Sprintf("correct the endpoint, or confirm it by the key %s of the Secret", v1alpha1.KeyEndpoint))
}

// sameServer compares scheme and host name; the port may be another.
func sameServer(a, b string) bool {
	left, err := url.Parse(strings.TrimSpace(a))
	if err != nil {
		return false
	}
	right, err := url.Parse(strings.TrimSpace(b))
	return err == nil && left.Scheme == right.Scheme && left.Hostname() != "" && strings.EqualFold(left.Hostname(), right.Hostname())
}
