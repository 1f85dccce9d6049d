// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"crypto/tls"
	"slices"
	"strings"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/butlerdotdev/butler/internal/pki"
)

// forwarding is a control plane that says no for the nodes that calls name.
type forwarding struct {
	machine.UnimplementedMachineServiceServer
	named []string
}

func (f *forwarding) Version(ctx context.Context, _ *emptypb.Empty) (*machine.VersionResponse, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	f.named = append(f.named, md.Get("node")...)
	if slices.Contains(f.named, "10.0.0.9") {
		return nil, status.Error(codes.Unavailable, "dial tcp 10.0.0.9:50000: connection refused")
	}
	return &machine.VersionResponse{}, nil
}

func TestForwardedCallsNameTheirNode(t *testing.T) {
	ours, other, talosconfig := authorities(t)
	for reason, tc := range map[string]struct {
		ca      pki.CA
		clients tls.ClientAuthType
		node    string
		want    State
		says    string
	}{
		"it answers":               {ours, tls.RequireAnyClientCert, "10.0.0.7", StateConfigured, ""},
		"it does not answer":       {ours, tls.RequireAnyClientCert, "10.0.0.9", StateUnreachable, "on 10.0.0.9: through 10.0.0.1: dial tcp"},
		"another cluster is there": {other, tls.RequireAnyClientCert, "10.0.0.7", StateUnreachable, "10.0.0.1 is not a control plane of this cluster"},
		"anything else is there":   {other, tls.NoClientCert, "10.0.0.7", StateUnreachable, "10.0.0.1 is not a control plane of this cluster"},
	} {
		t.Run(reason, func(t *testing.T) {
			front := &forwarding{}
			client, err := NewClient(talosconfig, serveNode(t, tc.ca, tc.clients, 0, front))
			if err != nil {
				t.Fatal(err)
			}
			client = client.Through(func(string) Route { return Route{Host: "10.0.0.1", Forwarded: true} })
			state, err := client.State(t.Context(), tc.node)
			if state != tc.want || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s, %v; want %s", state, err, tc.want)
			}
			if len(front.named) > 0 && !slices.Equal(front.named, []string{tc.node}) {
				t.Errorf("the call was for %v", front.named)
			}
			if off := Off(err); off != (tc.node == "10.0.0.9") {
				t.Errorf("it is taken for one without power: %v", off)
			}
		})
	}
}

func TestANodeBehindASilentLoadBalancerIsNotOff(t *testing.T) {
	silent := status.Error(codes.Unavailable, "dial tcp: lookup lb.example.com: no such host")
	through := Route{Host: "lb.example.com", Forwarded: true}
	for route, want := range map[Route]bool{Direct("10.0.0.7"): true, through: false} {
		if got := Off(failed("query", "10.0.0.7", route.failed("10.0.0.7", silent))); got != want {
			t.Errorf("%+v: %v", route, got)
		}
	}
}
