// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"context"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/provider"
)

// someone is a network where some addresses answer, some refuse, and the rest is
// silent.
type someone struct{ answers, refuses string }

// everywhere answers at all addresses, as a transparent proxy does.
const everywhere = "*"

func (s someone) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	switch {
	case addr == s.answers || s.answers == everywhere:
		near, far := net.Pipe()
		_ = far.Close()
		return near, nil
	case addr == s.refuses:
		return nil, os.NewSyscallError("connect", syscall.ECONNREFUSED)
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAddressThatAnswersIsInUse(t *testing.T) {
	for reason, c := range map[string]struct {
		network someone
		want    provider.Verdict
		say     string
	}{
		"nothing answers":            {someone{}, provider.Passed, "as far as this machine can see"},
		"another address answers":    {someone{answers: "10.0.0.9:443"}, provider.Passed, ""},
		"an API server answers":      {someone{answers: "10.0.0.1:6443"}, provider.Refused, "10.0.0.1 is in use: something answers on port 6443"},
		"the second answers":         {someone{answers: "10.0.0.2:22"}, provider.Refused, "10.0.0.2 is in use: something answers on port 22"},
		"one refuses":                {someone{refuses: "10.0.0.1:80"}, provider.Unknown, "10.0.0.1 may be in use: a connection to port 80 was refused"},
		"a proxy answers":            {someone{answers: everywhere}, provider.Unknown, "a proxy or a firewall on the way from this machine answers for every address"},
		"one refuses, another is up": {someone{refuses: "10.0.0.1:6443", answers: "10.0.0.1:22"}, provider.Refused, "port 22"},
	} {
		t.Run(reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				p := probe{"virtual IP", []string{"10.0.0.1", "10.0.0.2"}, provider.Refused, func(address string) string { return "move " + address }}
				f := p.ask(t.Context(), c.network.dial)
				if f.Verdict != c.want || !strings.Contains(f.Message, c.say) || f.Verdict == provider.Refused && !strings.HasPrefix("move "+f.Message, f.Hint+" ") {
					t.Errorf("got %+v", f)
				}
				if took := time.Since(began); took > 2*time.Second {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

// TestAnAddressThatIsInUseComesWithWhatToDo has each kind of address of a cluster, with and
// without NetworkPools.
func TestAnAddressThatIsInUseComesWithWhatToDo(t *testing.T) {
	const network = "    serviceCIDR: 10.96.0.0/12\n"
	allocated, err := withPools(t, network, network)
	if err != nil {
		t.Fatal(err)
	}
	named, err := withPools(t, network, network+"    vip: 10.40.0.210\n    loadBalancerPool: {start: 10.40.0.220, end: 10.40.0.229}\n")
	if err != nil {
		t.Fatal(err)
	}
	dhcp, err := parse(t, "10.40.0.200", "10.40.0.201", Plannable)
	if err != nil {
		t.Fatal(err)
	}
	reserve := "add 10.40.0.9/32 to spec.reserved of the NetworkPool: then another address is allocated"
	for name, c := range map[string]struct {
		m    *manifest.Manifest
		want []string
	}{
		"allocated":         {allocated, []string{reserve, reserve, reserve}},
		"named, with pools": {named, []string{reserve, "choose another address in spec.network.vip, or leave that out: then it comes from a NetworkPool", "choose another address in spec.network.loadBalancerPool, or leave that out"}},
		"named, with DHCP":  {dhcp, []string{"choose another address in spec.network.vip", "choose another address in spec.network.loadBalancerPool"}},
	} {
		all := probesOf(c.m)
		if len(all) != len(c.want) {
			t.Fatalf("%s: %+v", name, all)
		}
		for i, p := range all {
			got := p.remedy("10.40.0.9")
			if !strings.HasPrefix(got, "remove the host that has it, or "+c.want[i]) || name == "named, with DHCP" && strings.Contains(got, "NetworkPool") {
				t.Errorf("%s: %s: %s", name, p.check, got)
			}
		}
	}
}

func TestOnlyTheFirstAddressesOfAPoolAreTried(t *testing.T) {
	for reason, c := range map[string]struct {
		start, end string
		want       []string
	}{
		"a long one":   {"10.0.0.254", "10.0.1.9", []string{"10.0.0.254", "10.0.0.255", "10.0.1.0"}},
		"a short one":  {"10.0.0.1", "10.0.0.2", []string{"10.0.0.1", "10.0.0.2"}},
		"a single one": {"fd00::1", "fd00::1", []string{"fd00::1"}},
		"none":         {"10.0.0.2", "10.0.0.1", nil},
	} {
		if got := firstOf(&v1alpha1.AddressRange{Start: c.start, End: c.end}, 3); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", reason, got, c.want)
		}
	}
}

func TestCloudsAnnounceNoAddressesOfTheirNetwork(t *testing.T) {
	m := &manifest.Manifest{Cluster: &v1alpha1.ClusterBootstrap{}, Provider: &v1alpha1.ProviderConfig{}}
	m.Cluster.Spec.Provider, m.Cluster.Spec.Network.VIP = v1alpha1.ProviderAWS, "10.0.0.1"
	if got := (&Operation{ctx: t.Context()}).checkAddresses(m); got != nil {
		t.Errorf("got %+v", got)
	}
}
