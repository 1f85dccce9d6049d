// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/butlerdotdev/butler/internal/pki"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// maintenance is the machine service of a node without configuration, as it is
// up to Talos 1.12: most of the API is not there yet.
type maintenance struct {
	machine.UnimplementedMachineServiceServer
	disk    disk
	mode    mode
	restart context.CancelCauseFunc
	log     *slog.Logger
	mu      sync.Mutex
	taken   bool // a configuration, and a second one is not accepted
}

// runMaintenance serves until a configuration has come.
func runMaintenance(power context.Context, m datacenter.Machine, d disk, log *slog.Logger) error {
	ctx, restart := context.WithCancelCause(power)
	defer restart(nil)
	resources, err := resources(ctx, m, runtime.MachineStageMaintenance)
	if err != nil {
		return err
	}
	config, err := selfSigned(m)
	if err != nil {
		return err
	}
	log.Info("talos is in maintenance mode", "address", m.Address.Addr())
	service := &maintenance{disk: d, mode: modeOf(m), restart: restart, log: log}
	return api{machine: service, resources: resources}.serve(ctx, power, m, config)
}

// selfSigned proves nothing about the node, and asks clients for nothing.
func selfSigned(m datacenter.Machine) (*tls.Config, error) {
	ca, err := pki.NewCA("maintenance")
	if err != nil {
		return nil, err
	}
	names := []string{"maintenance-service.talos.dev", m.Name, "127.0.0.1", "::1"}
	if m.Address.IsValid() {
		names = append(names, m.Address.Addr().String())
	}
	certificate, err := serverCertificate(ca, names...)
	if err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}}, nil
}

// ApplyConfiguration takes one configuration. As on a real node, a second one that
// comes before the node is gone gets no answer, and holds the node back.
func (s *maintenance) ApplyConfiguration(ctx context.Context, in *machine.ApplyConfigurationRequest) (*machine.ApplyConfigurationResponse, error) {
	switch in.GetMode() {
	case machine.ApplyConfigurationRequest_TRY, machine.ApplyConfigurationRequest_REBOOT, machine.ApplyConfigurationRequest_AUTO:
	default:
		mode := strings.ReplaceAll(strings.ToLower(in.GetMode().String()), "_", "-")
		return nil, status.Errorf(codes.Unimplemented, "apply configuration --mode='%s' is not supported in maintenance mode", mode)
	}
	cfg, err := configloader.NewFromBytes(in.GetData())
	if err != nil {
		return nil, fmt.Errorf("failed to parse config: %w", err)
	}
	warnings, err := cfg.Validate(s.mode)
	if err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "configuration validation failed: %s", err)
	}
	answer := &machine.ApplyConfiguration{Warnings: warnings}
	reply := &machine.ApplyConfigurationResponse{Messages: []*machine.ApplyConfiguration{answer}}
	switch {
	case in.GetDryRun():
		answer.ModeDetails = "Dry run summary:\nNode is running in maintenance mode and does not have a config yet."
		return reply, nil
	case !cfg.CompleteForBoot():
		return reply, nil
	case !s.take():
		<-ctx.Done()
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	if err := s.disk.writeConfig(in.GetData()); err != nil {
		return nil, status.Errorf(codes.Internal, "write configuration: %s", err)
	}
	s.log.Info("talos took a configuration")
	s.restart(errRestart)
	return reply, nil
}

// take reports false if a configuration was taken before.
func (s *maintenance) take() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := !s.taken
	s.taken = true
	return first
}

func (s *maintenance) Version(context.Context, *emptypb.Empty) (*machine.VersionResponse, error) {
	return nil, notInMaintenance()
}

func (s *maintenance) Reset(context.Context, *machine.ResetRequest) (*machine.ResetResponse, error) {
	return nil, notInMaintenance()
}

func (s *maintenance) Upgrade(context.Context, *machine.UpgradeRequest) (*machine.UpgradeResponse, error) {
	return nil, notInMaintenance()
}

func notInMaintenance() error {
	return status.Error(codes.Unimplemented, "API is not implemented in maintenance mode")
}
