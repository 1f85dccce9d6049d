// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/provider"
)

func TestLongNamesAreShortenedAndDiffer(t *testing.T) {
	long := strings.Repeat("a", 60)
	seen := map[string]string{}
	for _, name := range []string{"mgmt-cp-lb", long + "-1", long + "-2", strings.Repeat("a", 32), strings.Repeat("a-", 30)} {
		got := Short(name, 32)
		if len(got) > 32 || strings.HasSuffix(got, "-") || strings.Contains(got, "--") || len(name) <= 32 && got != name || got != Short(name, 32) {
			t.Errorf("%s becomes %q", name, got)
		}
		if other := seen[got]; other != "" {
			t.Errorf("%s and %s both become %q", name, other, got)
		}
		seen[got] = name
	}
	if Hash(8, "a", "b") == Hash(8, "b", "a") || len(Hash(32, "a")) != 32 {
		t.Error("a hash does not depend on the order of its texts, or is too short")
	}
}

func TestMachinesAreSpreadByTheirNumber(t *testing.T) {
	for name, want := range map[string]int{"mgmt-cp-0": 0, "mgmt-w-12": 12, "mgmt": NumberOf("mgmt"), "a-1b": NumberOf("a-1b")} {
		if got := NumberOf(name); got != want || got < 0 {
			t.Errorf("%s has the number %d, want %d", name, got, want)
		}
	}
	all := []string{"0-a", "1-b", "2-a", "3-c"}
	zone := func(s string) string { return s[2:] }
	var got []string
	for n := range 6 {
		got = append(got, Spread(all, zone, n, 0))
	}
	if want := "0-a 1-b 3-c 2-a 1-b 3-c"; strings.Join(got, " ") != want {
		t.Errorf("machines are in %v, want %s", got, want)
	}
	got = nil
	for attempt := range 3 {
		got = append(got, zone(Spread(all, zone, 1, attempt)))
	}
	if order := Successive(all, zone, 1); strings.Join(order, " ") != "b c a" || strings.Join(got, " ") != "b c a" {
		t.Errorf("the attempts are in %v, announced are %v", got, order)
	}
}

func TestNumbersOfAttempts(t *testing.T) {
	refused := func(reason string) error { return provider.Exhausted.New("", reason, nil, "") }
	for name, c := range map[string]struct {
		last provider.Attempt
		want int
	}{
		"the first":               {provider.Attempt{}, 0},
		"a record that is broken": {provider.Attempt{Record: "x"}, 0},
		"the answer was lost":     {provider.Attempt{Record: `{"number":2,"zone":"a"}`}, 2},
		"no capacity":             {provider.Attempt{Record: `{"number":2}`, Refused: refused(provider.ReasonCapacityExhausted)}, 3},
		"used up":                 {provider.Attempt{Record: `{"number":2}`, Refused: refused(provider.ReasonAttemptSpent)}, 3},
		"a quota":                 {provider.Attempt{Record: `{"number":2}`, Refused: refused(provider.ReasonQuotaExceeded)}, 2},
		"another error":           {provider.Attempt{Record: `{"number":2}`, Refused: errors.New("x")}, 2},
	} {
		if got := Next(c.last); got != c.want {
			t.Errorf("%s: attempt %d follows, want %d", name, got, c.want)
		}
	}
}

func TestRecordsAreReadBackOrPlannedAgain(t *testing.T) {
	type attempt struct {
		Attempt
		Zone string `json:"zone"`
	}
	text, err := Record(attempt{Attempt{3}, "a"})
	var got attempt
	if err := errors.Join(err, ReadRecord("", text, &got, func() error { return nil })); err != nil || got.Number != 3 || got.Zone != "a" {
		t.Errorf("%s is read as %+v: %v", text, got, err)
	}
	for name, err := range map[string]error{
		"no record":           ReadRecord("", "x", &got, func() error { return nil }),
		"one that is refused": ReadRecord("", text, &got, func() error { return errors.New("zone a is not used") }),
	} {
		if provider.ReasonOf(err) != provider.ReasonAttemptInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestVersionsInNamesOfImages(t *testing.T) {
	for text, want := range map[string]bool{
		"talos-v1.9.2-eu-central-1-amd64": true, "talos-v1-9-2-amd64": true, "v1.9.2": true, "talos-v1.9.20-amd64": false,
		"talos-v1.9.2-rc.1": false, "talos-v1-9-2-alpha-0": false, "of v1.9.20, then v1.9.2": true, "talos": false,
	} {
		if ShowsVersion(text, "v1.9.2") != want {
			t.Errorf("%q shows v1.9.2: %v", text, !want)
		}
	}
	if got := TalosName("v1.9.2", "eu-central-1", "amd64"); got != "talos-v1.9.2-eu-central-1-amd64" {
		t.Error(got)
	}
}

func TestTheEndOfAToken(t *testing.T) {
	token := func(claims string) string { return "h." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".s" }
	at := time.Unix(2000000000, 0)
	for text, want := range map[string]time.Time{
		token(fmt.Sprintf(`{"exp":%d}`, at.Unix())) + "\n": at, token(`{}`): {}, token(`x`): {}, "a.b": {}, "": {},
	} {
		if got := TokenEnds(text); !got.Equal(want) {
			t.Errorf("%q ends at %v, want %v", text, got, want)
		}
	}
}

func TestUserDataThatThePlatformDoesNotAccept(t *testing.T) {
	for name, c := range map[string]struct {
		spec   provider.MachineSpec
		reason string
	}{
		"none":         {provider.MachineSpec{}, ""},
		"the most":     {provider.MachineSpec{UserData: "1234"}, ""},
		"too long":     {provider.MachineSpec{UserData: "12345"}, provider.ReasonUserDataTooLong},
		"network data": {provider.MachineSpec{NetworkData: "x"}, provider.ReasonFieldUnsupported},
		"an address":   {provider.MachineSpec{Network: &provider.Network{}}, provider.ReasonAddressUnsupported},
	} {
		if err := CheckUserData("", "X", c.spec, 4); (err == nil) != (c.reason == "") || err != nil && provider.ReasonOf(err) != c.reason {
			t.Errorf("%s: %v, want %q", name, err, c.reason)
		}
	}
}

func TestPortsAndTargetsOfALoadBalancer(t *testing.T) {
	s := provider.LoadBalancerSpec{Port: 6443, HealthCheckPort: 6444, AdditionalPorts: []int32{50000, 6443}}
	if got := Ports(s); len(got) != 2 || got[0] != (Port{6443, 6444}) || got[1] != (Port{50000, 50000}) {
		t.Errorf("the ports are %v", got)
	}
	if got := Clients(s); len(got) != 1 || got[0] != "0.0.0.0/0" {
		t.Errorf("without ranges the clients are %v", got)
	}
	add, drop := Difference([]string{"a", "b", "b"}, []string{"c", "a"})
	if strings.Join(add, " ") != "b" || strings.Join(drop, " ") != "c" {
		t.Errorf("%v are added and %v dropped", add, drop)
	}
}

func TestThePlatformOfAnImageIsShownByItsName(t *testing.T) {
	for name, want := range map[string]string{
		"talos-v1.9.2": "", "nocloud-amd64.raw.xz": "", "metal-amd64.raw.xz": "metal", "Talos v1.9.2 (OpenStack)": "openstack",
		"talos-nocloud-from-metal": "", "bimetal-1": "",
	} {
		if got := OtherPlatform(name, "nocloud"); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
