// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

func TestTheAllocatedAddressIsThePrimaryOne(t *testing.T) {
	const own, vip, lease = "10.40.0.12", "10.40.0.100", "10.40.0.77"
	allocated := &v1alpha1.MachineNetwork{Address: own + "/24"}
	for reason, c := range map[string]struct {
		network  *v1alpha1.MachineNetwork
		state    provider.State
		reported []string
		want     []string
		pending  bool
	}{
		"none was allocated":         {nil, provider.StateRunning, []string{lease, own}, []string{lease, own}, false},
		"it is the only one":         {allocated, provider.StateRunning, []string{own}, []string{own}, false},
		"others come first":          {allocated, provider.StateRunning, []string{vip, lease, own, "fd00::5"}, []string{own, vip, lease, "fd00::5"}, false},
		"there are only others":      {allocated, provider.StateRunning, []string{lease}, nil, true},
		"the machine does not run":   {allocated, provider.StateStopped, []string{lease}, []string{lease}, false},
		"no address is known so far": {allocated, provider.StatePending, nil, nil, true},
	} {
		m := provider.Machine{State: c.state}
		for _, a := range c.reported {
			m.Addresses = append(m.Addresses, netip.MustParseAddr(a))
		}
		m = addressed(m, c.network)
		var got []string
		for _, a := range m.Addresses {
			got = append(got, a.String())
		}
		if diff := cmp.Diff(c.want, got); diff != "" || c.pending != (m.State == provider.StatePending) {
			t.Errorf("%s: %s\n%s", reason, m.State, diff)
		}
		if len(c.reported) > 0 && c.pending && !strings.Contains(m.Message, own) {
			t.Errorf("%s: %q", reason, m.Message)
		}
	}
}

func TestTheNetworkOfARequestReachesThePlatform(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Configure()
	r := w.request("a", func(r *v1alpha1.MachineRequest) {
		r.Spec.Network = &v1alpha1.MachineNetwork{Address: "10.40.0.11/24", Gateway: "10.40.0.1", DNSServers: []string{"10.40.0.2"}}
	})
	w.phase(r, v1alpha1.MachineRunning)
	if r.Status.IPAddress != "10.40.0.11" {
		t.Errorf("the address is %s", r.Status.IPAddress)
	}
	got, _ := w.platform.Spec("a")
	want := &provider.Network{
		Address: netip.MustParsePrefix("10.40.0.11/24"), Gateway: netip.MustParseAddr("10.40.0.1"), DNSServers: []netip.Addr{netip.MustParseAddr("10.40.0.2")},
	}
	if diff := cmp.Diff(want, got.Network, cmp.Comparer(func(a, b netip.Addr) bool { return a == b }), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("the platform has (-want +got)\n%s", diff)
	}
}

func TestAnAddressThatThePlatformRefusesIsAFailureThatSaysWhatToDo(t *testing.T) {
	w := newFixture(t, inmemory.Options{NoAddresses: true})
	w.Configure()
	r := w.request("a", func(r *v1alpha1.MachineRequest) { r.Spec.Network = &v1alpha1.MachineNetwork{Address: "10.40.0.11/24"} })
	w.phase(r, v1alpha1.MachineFailed)
	if got := request.ReadyReason(r.Status.Conditions); got != provider.ReasonAddressUnsupported || !strings.Contains(r.Status.FailureMessage, "create a request without it") {
		t.Errorf("%s: %s", got, r.Status.FailureMessage)
	}
	w.machines(0)
}
