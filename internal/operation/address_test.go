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
				f := addressCheck(t.Context(), c.network.dial, "virtual IP", []string{"10.0.0.1", "10.0.0.2"}, provider.Refused)
				if f.Verdict != c.want || !strings.Contains(f.Message, c.say) || f.Verdict == provider.Refused && f.Hint == "" {
					t.Errorf("got %+v", f)
				}
				if took := time.Since(began); took > 2*time.Second {
					t.Errorf("it took %s", took)
				}
			})
		})
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
