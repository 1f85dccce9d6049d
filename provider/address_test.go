// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"fmt"
	"testing"
)

func TestAddressesAreThoseThatOthersCanReach(t *testing.T) {
	for want, texts := range map[string][]string{
		"[]":                         {"", "nonsense", "127.0.0.1", "::1", "0.0.0.0", "::", "169.254.1.1", "fe80::1", "fe80::1%eth0", "224.0.0.1", "ff02::1"},
		"[10.0.0.5]":                 {"10.0.0.5", "10.0.0.5/24", "::ffff:10.0.0.5"},
		"[10.0.0.5 2001:db8::5]":     {"2001:db8::5/64", "fe80::1", "10.0.0.5"},
		"[10.0.0.9 10.0.0.5 fd00::]": {"10.0.0.9", "fd00::%eth0", "10.0.0.5"},
	} {
		if got := fmt.Sprint(Addresses(texts...)); got != want {
			t.Errorf("%v: %s, want %s", texts, got, want)
		}
	}
}
