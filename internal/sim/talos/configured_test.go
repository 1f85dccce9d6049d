// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos_test

import (
	"context"
	"strings"
	"testing"
	"time"

	clientconfig "github.com/siderolabs/talos/pkg/machinery/client/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"go.yaml.in/yaml/v4"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	simtalos "github.com/butlerdotdev/butler/internal/sim/talos"
	"github.com/butlerdotdev/butler/internal/talos"
)

func TestStateIsAsked(t *testing.T) {
	s := newSite(t, simtalos.Options{})
	if state, err := s.client.State(t.Context(), "10.40.0.77"); state != talos.StateUnreachable || err == nil {
		t.Errorf("nobody there: %s, %v", state, err)
	}
	m := s.powerOn(t, "cp-0")
	s.configure(t, m, talos.ControlPlane)
	address := m.Address.Addr().String()
	s.awaitState(t, address, talos.StateConfigured)

	others, err := talos.NewSecrets("v1.9.2")
	check(t, err)
	stranger := s.newClient(t, others)
	if state, err := stranger.State(t.Context(), address); state != talos.StateForeign || err == nil {
		t.Errorf("another cluster's node: %s, %v", state, err)
	}
	if _, err := stranger.Bootstrap(t.Context(), address); status.Code(err) != codes.Unavailable {
		t.Errorf("a stranger's bootstrap: %v, want a failed handshake", err)
	}
	s.datacenter.PowerOff("cp-0")
	if state, err := s.client.State(t.Context(), address); state != talos.StateUnreachable || err == nil {
		t.Errorf("powered off: %s, %v", state, err)
	}
}

func TestConfigurationSurvivesPowerLoss(t *testing.T) {
	s := newSite(t, simtalos.Options{})
	m := s.powerOn(t, "cp-0")
	s.configure(t, m, talos.ControlPlane)
	address := m.Address.Addr().String()
	s.awaitState(t, address, talos.StateConfigured)
	s.datacenter.PowerOff("cp-0")
	if again := s.powerOn(t, "cp-0"); again.Address != m.Address {
		t.Fatalf("address %v, was %v", again.Address, m.Address)
	}
	s.awaitState(t, address, talos.StateConfigured)
}

func TestConfigurationFromUserData(t *testing.T) {
	s := newSite(t, simtalos.Options{})
	for id, tc := range map[string]struct {
		userData []byte
		want     talos.State
	}{
		"talos":      {s.config(t, "cp-0", talos.ControlPlane), talos.StateConfigured},
		"cloud-init": {[]byte("#cloud-config\nhostname: x\n"), talos.StateMaintenance},
	} {
		m, err := s.datacenter.PowerOn(datacenter.Spec{ID: id, Name: id, UserData: tc.userData})
		check(t, err)
		s.awaitState(t, m.Address.Addr().String(), tc.want)
	}
}

func TestBootstrapBeforeEtcdWaits(t *testing.T) {
	s := newSite(t, simtalos.Options{Profile: datacenter.Profile{Etcd: time.Hour}})
	m := s.powerOn(t, "cp-0")
	s.configure(t, m, talos.ControlPlane)
	address := m.Address.Addr().String()
	s.awaitState(t, address, talos.StateConfigured)
	_, err := s.client.Bootstrap(t.Context(), address)
	if status.Code(err) != codes.FailedPrecondition {
		t.Errorf("bootstrap: %v, want FailedPrecondition", err)
	}
	services, err2 := s.client.Services(t.Context(), address)
	check(t, err2)
	for _, service := range services {
		if early := service.ID == "etcd" || service.ID == "kubelet"; early != (service.State == "Waiting") || early == service.Up() {
			t.Errorf("service %+v, want waiting: %v", service, early)
		}
	}
	if want := "bootstrap etcd on " + address + ": bootstrap is not available yet"; err == nil || err.Error() != want {
		t.Errorf("message %q, want %q", err, want)
	}
}

func TestEtcdBeforeBootstrap(t *testing.T) {
	s := newSite(t, simtalos.Options{})
	m := s.powerOn(t, "cp-0")
	s.configure(t, m, talos.ControlPlane)
	address := m.Address.Addr().String()
	s.awaitState(t, address, talos.StateConfigured)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := s.client.Members(ctx, address); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("members: %v, want to be kept waiting", err)
	}
	services, err := s.client.Services(t.Context(), address)
	check(t, err)
	for _, service := range services {
		if up := service.ID != "etcd"; service.Up() != up {
			t.Errorf("service %+v, want up: %v", service, up)
		}
		if service.ID == "etcd" && (service.State != "Preparing" || service.Message != "Running pre state") {
			t.Errorf("service %+v", service)
		}
	}
	kubeconfig, err := s.client.Kubeconfig(t.Context(), address)
	if err != nil || !strings.Contains(string(kubeconfig), "server: https://"+sharedIP+":6443") {
		t.Errorf("kubeconfig does not name the endpoint (%v)", err)
	}
}

func TestRoleIsThatOfTheCertificate(t *testing.T) {
	s := newSite(t, simtalos.Options{})
	m := s.powerOn(t, "cp-0")
	s.configure(t, m, talos.ControlPlane)
	address := m.Address.Addr().String()
	s.awaitState(t, address, talos.StateConfigured)
	reader := s.withRole(t, role.Reader)
	if _, err := reader.Version(t.Context(), address); err != nil {
		t.Errorf("a reader may ask for the version: %v", err)
	}
	for name, call := range map[string]func() error{
		"bootstrap":  func() error { _, err := reader.Bootstrap(t.Context(), address); return err },
		"kubeconfig": func() error { _, err := reader.Kubeconfig(t.Context(), address); return err },
		"reset":      func() error { return reader.Reset(t.Context(), address, false) },
	} {
		if err := call(); status.Code(err) != codes.PermissionDenied {
			t.Errorf("%s by a reader: %v, want PermissionDenied", name, err)
		}
	}
}

func (s *site) withRole(t *testing.T, r role.Role) *talos.Client {
	t.Helper()
	var bundle secrets.Bundle
	check(t, yaml.Unmarshal(s.secrets, &bundle))
	bundle.Clock = secrets.NewClock()
	certificate, err := bundle.GenerateTalosAPIClientCertificate(role.MakeSet(r))
	check(t, err)
	talosconfig, err := clientconfig.NewConfig("dev", nil, bundle.Certs.OS.Crt, certificate).Bytes()
	check(t, err)
	client, err := talos.NewClient(talosconfig, s.network.Dial)
	check(t, err)
	return client
}

func TestResetWipes(t *testing.T) {
	s := newSite(t, simtalos.Options{})
	m := s.powerOn(t, "cp-0")
	s.configure(t, m, talos.ControlPlane)
	address := m.Address.Addr().String()
	s.awaitState(t, address, talos.StateConfigured)
	check(t, s.client.Reset(t.Context(), address, false))
	s.awaitState(t, address, talos.StateMaintenance)
}

func TestClientIsBoundedByContext(t *testing.T) {
	s := newSite(t, simtalos.Options{})
	host, err := s.network.Attach(s.powerOn(t, "cp-0").Address.Addr().Next().Next())
	check(t, err)
	silent, err := host.Listen(50000)
	check(t, err)
	defer silent.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	if state, err := s.client.State(ctx, host.Addr().String()); state != talos.StateUnreachable || err == nil {
		t.Errorf("a silent host: %s, %v", state, err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
}
