// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"errors"
	"runtime"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

// machined is the machine service of a configured node; what it does not
// define is Unimplemented.
type machined struct {
	machine.UnimplementedMachineServiceServer
	node *node
}

func (s *machined) Version(context.Context, *emptypb.Empty) (*machine.VersionResponse, error) {
	return &machine.VersionResponse{Messages: []*machine.Version{{
		Version:  &machine.VersionInfo{Tag: s.node.version(), Os: "linux", Arch: runtime.GOARCH},
		Platform: &machine.PlatformInfo{Name: modeOf(s.node.machine).platform, Mode: modeOf(s.node.machine).String()},
		Features: &machine.FeaturesInfo{Rbac: true},
	}}}, nil
}

func (s *machined) Hostname(context.Context, *emptypb.Empty) (*machine.HostnameResponse, error) {
	return &machine.HostnameResponse{Messages: []*machine.Hostname{{Hostname: s.node.hostname()}}}, nil
}

// Bootstrap starts etcd as the first member, once in the life of the disk. As on a
// real node a call that is repeated before etcd runs is accepted, and has the start
// begin again: a caller that asks too often never gets there. A node that loses its power
// before etcd runs knows nothing of it any more.
func (s *machined) Bootstrap(context.Context, *machine.BootstrapRequest) (*machine.BootstrapResponse, error) {
	n := s.node
	n.mu.Lock()
	defer n.mu.Unlock()
	_, hasData := n.disk.etcd()
	switch {
	case errors.Is(n.checkNetwork(), errTime):
		return nil, status.Error(codes.FailedPrecondition, errTime.Error())
	case !n.booted:
		return nil, status.Error(codes.FailedPrecondition, "bootstrap is not available yet")
	case !n.isControlPlane():
		return nil, status.Error(codes.FailedPrecondition, "bootstrap can only be performed on a control plane node")
	case hasData, n.joining:
		return nil, status.Error(codes.AlreadyExists, "etcd data directory is not empty")
	case n.starting:
		n.cluster.restart()
	default:
		n.starting = true
		n.bootstrap <- struct{}{}
	}
	return &machine.BootstrapResponse{Messages: []*machine.Bootstrap{{}}}, nil
}

// ApplyConfiguration replaces the configuration and restarts the node, or with
// the mode staged leaves the restart to the caller. Without a restart it changes addresses
// of the loopback interface alone.
func (s *machined) ApplyConfiguration(_ context.Context, in *machine.ApplyConfigurationRequest) (*machine.ApplyConfigurationResponse, error) {
	cfg, err := configloader.NewFromBytes(in.GetData())
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	if cfg.RawV1Alpha1() == nil {
		return nil, status.Error(codes.InvalidArgument, "the applied machine configuration doesn't contain v1alpha1 config")
	}
	warnings, err := cfg.Validate(modeOf(s.node.machine))
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	mode := in.GetMode()
	switch mode {
	case machine.ApplyConfigurationRequest_AUTO:
		mode = machine.ApplyConfigurationRequest_REBOOT
	case machine.ApplyConfigurationRequest_REBOOT, machine.ApplyConfigurationRequest_STAGED:
	case machine.ApplyConfigurationRequest_NO_REBOOT:
		if needsRestart(s.node.config, cfg) {
			return nil, status.Error(codes.InvalidArgument, "this config change can't be applied in immediate mode")
		}
	default:
		return nil, status.Errorf(codes.Unimplemented, "the emulated node does not apply configurations in mode %s", mode)
	}
	reply := &machine.ApplyConfigurationResponse{Messages: []*machine.ApplyConfiguration{{Warnings: warnings, Mode: mode}}}
	if in.GetDryRun() {
		return reply, nil
	}
	if err := s.node.disk.writeConfig(in.GetData()); err != nil {
		return nil, status.Errorf(codes.Internal, "write configuration: %s", err)
	}
	switch mode {
	case machine.ApplyConfigurationRequest_REBOOT:
		s.node.restart(errRestart)
	case machine.ApplyConfigurationRequest_NO_REBOOT:
		s.node.takeLoopback(cfg)
		_, _ = s.node.machine.Configure(interfaceOf(s.node.machine, cfg)) // without a lease it has no address
	default:
	}
	return reply, nil
}

func onlyOnControlPlanes(name string) error {
	return status.Errorf(codes.Unimplemented, "%s is only available on control plane nodes", name)
}
