// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// endpoint returns the URL that credentials are sent to: that of the spec, if it is on
// the server of the kubeconfig or confirmed in the Secret. The ProviderConfig may have
// another author than the Secret, who must not get at its credentials.
func endpoint(op string, c provider.Config, server string) (string, error) {
	wanted := c.Spec.Harvester.Endpoint
	if wanted == "" || sameServer(wanted, server) || sameServer(wanted, string(c.Credentials.Get(v1alpha1.KeyEndpoint))) {
		return cmp.Or(wanted, server), nil
	}
	return "", provider.Invalid.New(op, provider.ReasonEndpointNotConfirmed,
		fmt.Errorf("spec.harvester.endpoint %s is not on the server of the kubeconfig, %s: its credentials are not sent there", wanted, server),
		"correct the endpoint, or confirm it by the key endpoint of the Secret")
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
