// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

func TestTheEndpointHasOnePort(t *testing.T) {
	for endpoint, c := range map[string]struct {
		port int32
		want string
		says string
	}{
		"https://prism.example.com":               {0, "https://prism.example.com:9440", ""},
		"https://prism.example.com/":              {9440, "https://prism.example.com:9440", ""},
		"https://prism.example.com:9440":          {9440, "https://prism.example.com:9440", ""},
		"https://prism.example.com:9440/console/": {0, "https://prism.example.com:9440", ""},
		"https://10.0.0.9":                        {443, "https://10.0.0.9:443", ""},
		"https://[fd00::9]":                       {0, "https://[fd00::9]:9440", ""},
		"https://prism.example.com:443":           {9440, "", "port 443, and spec.nutanix.port is 9440; remove the port from the endpoint, or set spec.nutanix.port to 443"},
		"https://prism.example.com:443/":          {0, "", "port 443"},
		"http://prism.example.com":                {0, "", "without encryption"},
		"https://":                                {0, "", "not the URL of a server"},
		"https://admin:secret@prism.example.com":  {0, "", "has a user in it; remove it"},
	} {
		got, err := baseOf("connect", v1alpha1.NutanixSpec{Endpoint: endpoint, Port: c.port})
		if got != c.want || (err == nil) != (c.says == "") {
			t.Errorf("%s with port %d: %q, %v", endpoint, c.port, got, err)
		}
		if err != nil && (!strings.Contains(err.Error(), c.says) || provider.KindOf(err) != provider.Invalid || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}
