// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"testing"
	"testing/synctest"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	operator "github.com/butlerdotdev/butler/internal/talos"
)

// configs are valid configurations of two nodes.
func configs(t *testing.T) (all [2][]byte) {
	t.Helper()
	const version = "v1.9.2"
	secrets, err := operator.NewSecrets(version)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"cp-0", "cp-1"} {
		all[i], err = operator.Config(secrets, operator.Cluster{
			Name: "dev", Endpoint: "10.0.0.100", TalosVersion: version, PodCIDR: "10.244.0.0/16", ServiceCIDR: "10.96.0.0/12", Schematic: "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba",
		}, operator.Node{Name: name, Role: operator.ControlPlane})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestSecondConfigurationAtOnceGetsNoAnswer(t *testing.T) {
	both, d := configs(t), disk{t.TempDir()}
	synctest.Test(t, func(t *testing.T) {
		var restarts []error
		s := &maintenance{disk: d, log: slog.New(slog.DiscardHandler), restart: func(err error) { restarts = append(restarts, err) }}
		apply := func(ctx context.Context, config []byte) error {
			_, err := s.ApplyConfiguration(ctx, &machine.ApplyConfigurationRequest{Data: config})
			return err
		}
		if err := apply(t.Context(), both[0]); err != nil {
			t.Fatal(err)
		}
		ctx, leave := context.WithCancel(t.Context())
		answer := make(chan error, 1)
		go func() { answer <- apply(ctx, both[1]) }()
		synctest.Wait()
		if len(answer) > 0 {
			t.Errorf("the second one was answered: %v", <-answer)
		}
		leave()
		if err := <-answer; status.Code(err) != codes.Canceled {
			t.Errorf("the second one: %v", err)
		}
		if len(restarts) != 1 || !errors.Is(restarts[0], errRestart) {
			t.Errorf("restarts: %v", restarts)
		}
	})
	if kept, err := os.ReadFile(d.configPath()); err != nil || string(kept) != string(both[0]) {
		t.Errorf("the node did not keep the first one (%v)", err)
	}
}
