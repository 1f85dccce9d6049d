// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// defaultPort is that of Prism Central.
const defaultPort = 9440

// reasonEndpoint: the endpoint of the ProviderConfig cannot be used.
const reasonEndpoint = "EndpointInvalid"

// baseOf returns the URL of Prism Central as scheme://host:port. The endpoint may have a port,
// which must be that of the settings, and the path of a browser's address.
func baseOf(op string, s v1alpha1.NutanixSpec) (string, error) {
	refuse := func(err error, hint string) (string, error) {
		return "", provider.Invalid.New(op, reasonEndpoint, err, hint)
	}
	u, err := url.Parse(strings.TrimSpace(s.Endpoint))
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return refuse(fmt.Errorf("spec.nutanix.endpoint %q is not the URL of a server", s.Endpoint), "write https://HOST")
	}
	if u.User != nil {
		return refuse(fmt.Errorf("spec.nutanix.endpoint has a user in it"), "remove it: credentials belong in the Secret")
	}
	if u.Scheme == "http" {
		return refuse(fmt.Errorf("spec.nutanix.endpoint %q would send the credentials without encryption", s.Endpoint), "write https://HOST")
	}
	port := int(cmp.Or(s.Port, defaultPort))
	if given := u.Port(); given != "" && given != strconv.Itoa(port) {
		return refuse(fmt.Errorf("spec.nutanix.endpoint has port %s, and spec.nutanix.port is %d", given, port), "remove the port from the endpoint, or set spec.nutanix.port to "+given)
	}
	return "https://" + net.JoinHostPort(u.Hostname(), strconv.Itoa(port)), nil
}
