// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos_test

import (
	"context"
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	cosi "github.com/cosi-project/runtime/pkg/state/protobuf/client"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/api/storage"
	"github.com/siderolabs/talos/pkg/machinery/resources/hardware"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	simtalos "github.com/butlerdotdev/butler/internal/sim/talos"
	"github.com/butlerdotdev/butler/internal/talos"
)

// insecure connects as `talosctl --insecure` does.
func (s *site) insecure(t *testing.T, address string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+net.JoinHostPort(address, "50000"),
		grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{InsecureSkipVerify: true})),
		grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) { return s.network.Dial(ctx, "tcp", addr) }))
	check(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestMaintenanceAPI(t *testing.T) {
	s := newSite(t, simtalos.Options{})
	m := s.powerOn(t, "cp-0")
	address := m.Address.Addr().String()
	s.awaitState(t, address, talos.StateMaintenance)
	conn := s.insecure(t, address)
	api := machine.NewMachineServiceClient(conn)
	ctx := t.Context()

	for name, call := range map[string]func() error{
		"Version": func() error { _, err := api.Version(ctx, &emptypb.Empty{}); return err },
		"Reset":   func() error { _, err := api.Reset(ctx, &machine.ResetRequest{}); return err },
		"Upgrade": func() error {
			_, err := api.Upgrade(ctx, &machine.UpgradeRequest{}) //nolint:staticcheck // these versions have no other
			return err
		},
		"Bootstrap": func() error { _, err := api.Bootstrap(ctx, &machine.BootstrapRequest{}); return err },
		"staged": func() error {
			_, err := api.ApplyConfiguration(ctx, &machine.ApplyConfigurationRequest{Mode: machine.ApplyConfigurationRequest_STAGED})
			return err
		},
	} {
		if err := call(); status.Code(err) != codes.Unimplemented {
			t.Errorf("%s: %v, want Unimplemented", name, err)
		}
	}
	if _, err := storage.NewStorageServiceClient(conn).Disks(ctx, &emptypb.Empty{}); err != nil {
		t.Errorf("disks: %v", err)
	}
	dry, err := api.ApplyConfiguration(ctx, &machine.ApplyConfigurationRequest{Data: s.config(t, "cp-0", talos.ControlPlane), DryRun: true})
	if err != nil || !strings.HasPrefix(dry.GetMessages()[0].GetModeDetails(), "Dry run summary:") {
		t.Errorf("dry run: %v, %v", dry, err)
	}
	resources := state.WrapCore(cosi.NewAdapter(v1alpha1.NewStateClient(conn)))
	stage, err := safe.StateGetByID[*runtime.MachineStatus](ctx, resources, runtime.MachineStatusID)
	if err != nil || stage.TypedSpec().Stage != runtime.MachineStageMaintenance {
		t.Errorf("machine status %v, %v", stage, err)
	}
	system, err := safe.StateGetByID[*hardware.SystemInformation](ctx, resources, hardware.SystemInformationID)
	if err != nil || system.TypedSpec().UUID != "cp-0" {
		t.Errorf("system information %v, %v", system, err)
	}
	if err := resources.Destroy(ctx, stage.Metadata()); err == nil {
		t.Error("a resource could be destroyed")
	}
	raw, err := s.network.Dial(ctx, "tcp", address+":50000")
	check(t, err)
	defer raw.Close()
	session := tls.Client(raw, &tls.Config{InsecureSkipVerify: true})
	check(t, session.HandshakeContext(ctx))
	certificate := session.ConnectionState().PeerCertificates[0]
	if certificate.Subject.CommonName != "maintenance-service.talos.dev" || certificate.VerifyHostname(address) != nil || certificate.VerifyHostname("127.0.0.1") != nil {
		t.Errorf("certificate of %v for %v, %v", certificate.Subject, certificate.DNSNames, certificate.IPAddresses)
	}
}

func TestMaintenanceRefusesInvalidConfiguration(t *testing.T) {
	s := newSite(t, simtalos.Options{})
	m := s.powerOn(t, "cp-0")
	address := m.Address.Addr().String()
	s.awaitState(t, address, talos.StateMaintenance)
	valid := string(s.config(t, "cp-0", talos.ControlPlane))
	for reason, config := range map[string]string{
		"no install disk": strings.Replace(valid, "disk: /dev/vda", "disk: \"\"", 1),
		"unknown type":    strings.Replace(valid, "type: controlplane", "type: router", 1),
	} {
		err := s.client.Apply(t.Context(), address, []byte(config))
		if status.Code(err) != codes.InvalidArgument {
			t.Errorf("%s: %v, want InvalidArgument", reason, err)
		}
	}
	if err := s.client.Apply(t.Context(), address, []byte("nonsense: true")); err == nil {
		t.Error("nonsense was applied")
	}
	s.awaitState(t, address, talos.StateMaintenance)
	if entries, _ := os.ReadDir(m.StateDir); len(entries) > 0 {
		t.Errorf("the disk is not empty: %v", entries)
	}
}

func TestApplyRestartsIntoConfigured(t *testing.T) {
	s := newSite(t, simtalos.Options{})
	m := s.powerOn(t, "cp-0")
	s.configure(t, m, talos.ControlPlane)
	address := m.Address.Addr().String()
	s.awaitState(t, address, talos.StateConfigured)
	info, err := os.Stat(filepath.Join(m.StateDir, "config.yaml"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("configuration on disk: %v, %v", info, err)
	}
	version, err := s.client.Version(t.Context(), address)
	if err != nil || version != "v1.9.2" {
		t.Errorf("version %q, %v", version, err)
	}
	if err := s.client.Apply(t.Context(), address, s.config(t, "cp-0", talos.ControlPlane)); err == nil {
		t.Error("a configured node took a configuration without credentials")
	}
}
