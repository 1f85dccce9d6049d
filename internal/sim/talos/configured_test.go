// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	clientconfig "github.com/siderolabs/talos/pkg/machinery/client/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"go.yaml.in/yaml/v4"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	simtalos "github.com/butlerdotdev/butler/internal/sim/talos"
	"github.com/butlerdotdev/butler/internal/talos"
)

func TestStateIsAsked(t *testing.T) {
	s := newSite(t, simtalos.Options{})
	if state, err := s.client.State(t.Context(), "10.40.0.77"); state != talos.StateUnreachable || err == nil {
		t.Errorf("no machine there: %s, %v", state, err)
	}
	m := s.powerOn(t, "cp-0")
	s.configure(t, m, talos.ControlPlane)
	address := m.Address.Addr().String()
	s.awaitState(t, address, talos.StateConfigured)

	others, err := talos.NewSecrets("v1.9.2")
	check(t, err)
	other := s.newClient(t, others)
	if state, err := other.State(t.Context(), address); state != talos.StateForeign || err == nil {
		t.Errorf("another cluster's node: %s, %v", state, err)
	}
	if _, err := other.Bootstrap(t.Context(), address); status.Code(err) != codes.Unavailable {
		t.Errorf("a bootstrap by another cluster: %v, want a failed handshake", err)
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
	config := s.config(t, "cp-0", talos.ControlPlane)
	aws := &datacenter.Metadata{Platform: "aws"}
	for id, tc := range map[string]struct {
		userData []byte
		cloud    *datacenter.Metadata
		want     talos.State
	}{
		"talos":           {config, nil, talos.StateConfigured},
		"cloud-init":      {[]byte("#cloud-config\nhostname: x\n"), nil, talos.StateMaintenance},
		"aws":             {config, aws, talos.StateConfigured},
		"aws-no-disk":     {s.withoutInstall(t), aws, talos.StateConfigured},
		"aws-zipped":      {zipped(t, config), aws, talos.StateConfigured},
		"aws-none":        {nil, aws, talos.StateMaintenance},
		"aws-blank":       {[]byte(" \n"), aws, talos.StateMaintenance},
		"aws-incomplete":  {[]byte("apiVersion: v1alpha1\nkind: KmsgLogConfig\nname: a\nurl: tcp://10.0.0.1:1/\n"), aws, talos.StateMaintenance},
		"aws-other":       {[]byte("#cloud-config\nhostname: x\n"), aws, talos.StateUnreachable},
		"aws-invalid":     {[]byte("machine:\n  type: controlplane\n"), aws, talos.StateUnreachable},
		"metal-no-disk":   {s.withoutInstall(t), nil, talos.StateMaintenance},
		"nocloud-no-disk": {s.withoutInstall(t), nil, talos.StateConfigured},
		"aws-zipped-junk": {zipped(t, config)[:100], aws, talos.StateUnreachable},
	} {
		m, err := s.datacenter.PowerOn(datacenter.Spec{ID: id, Name: id, UserData: tc.userData, Metadata: tc.cloud, ImagePlatform: map[bool]string{true: "nocloud"}[strings.HasPrefix(id, "nocloud")]})
		check(t, err)
		address := m.Address.Addr().String()
		if tc.want == talos.StateUnreachable {
			eventually(t, func(context.Context) bool { return strings.Contains(s.log.String(), "machine="+id+" error=") }, func() any { return id })
		}
		s.awaitState(t, address, tc.want)
		conn, err := s.network.Dial(t.Context(), "tcp", address+":50000")
		if err == nil {
			_ = conn.Close()
		}
		if (err == nil) != (tc.want != talos.StateUnreachable) {
			t.Errorf("%s listens: %v", id, err)
		}
	}
}

// withoutInstall is a configuration without a disk to install on.
func (s *site) withoutInstall(t *testing.T) []byte {
	t.Helper()
	patched, err := talos.Config(s.secrets, testCluster(), talos.Node{Name: "cp-0", Role: talos.ControlPlane})
	check(t, err)
	text := regexp.MustCompile(`(?m)^    install:\n(?:        .*\n)+`).ReplaceAllString(string(patched), "")
	if strings.Contains(text, "install:") {
		t.Fatal("the configuration installs")
	}
	return []byte(text)
}

func zipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var buffer bytes.Buffer
	w := gzip.NewWriter(&buffer)
	_, err := w.Write(data)
	check(t, errors.Join(err, w.Close()))
	return buffer.Bytes()
}

// TestPublicAddressOfANode is dialled by an operator who does not reach the private one.
func TestPublicAddressOfANode(t *testing.T) {
	s := newSite(t, simtalos.Options{})
	check(t, s.datacenter.AddSubnet("private", datacenter.Subnet{Prefix: netip.MustParsePrefix("10.50.0.0/24"), Private: true}))
	check(t, s.datacenter.AddSubnet("public", datacenter.Subnet{Prefix: netip.MustParsePrefix("203.0.113.0/24")}))
	public, err := s.datacenter.Allocate("eip", "public")
	check(t, err)
	check(t, s.datacenter.Associate("eip", "cp-0"))
	_, err = s.datacenter.PowerOn(datacenter.Spec{ID: "cp-0", Name: "cp-0", Network: "private", Metadata: &datacenter.Metadata{Platform: "aws"}})
	check(t, err)
	talosconfig, err := talos.Talosconfig(s.secrets, "dev", nil, nil)
	check(t, err)
	s.client, err = talos.NewClient(talosconfig, s.fromOutside)
	check(t, err)
	s.awaitState(t, public.IP.String(), talos.StateMaintenance)
	check(t, s.client.Apply(t.Context(), public.IP.String(), s.config(t, "cp-0", talos.ControlPlane)))
	s.awaitState(t, public.IP.String(), talos.StateConfigured)
}

// TestUserDataIsTakenOnce has a machine whose user data changes while it is off.
func TestUserDataIsTakenOnce(t *testing.T) {
	s := newSite(t, simtalos.Options{})
	spec := datacenter.Spec{ID: "cp-0", Name: "cp-0", UserData: s.config(t, "cp-0", talos.ControlPlane), Metadata: &datacenter.Metadata{Platform: "aws"}}
	m, err := s.datacenter.PowerOn(spec)
	check(t, err)
	s.awaitState(t, m.Address.Addr().String(), talos.StateConfigured)
	s.datacenter.PowerOff("cp-0")
	spec.UserData = []byte("junk")
	_, err = s.datacenter.PowerOn(spec)
	check(t, err)
	s.awaitState(t, m.Address.Addr().String(), talos.StateConfigured)
	version, err := s.admin(t, m.Address.Addr().String()).Version(t.Context(), &emptypb.Empty{})
	check(t, err)
	if p := version.GetMessages()[0].GetPlatform(); p.GetName() != "aws" || p.GetMode() != "cloud" {
		t.Errorf("platform %v", p)
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
	client, err := talos.NewClient(s.talosconfig(t, r), s.network.Dial)
	check(t, err)
	return client
}

func (s *site) talosconfig(t *testing.T, r role.Role) []byte {
	t.Helper()
	var bundle secrets.Bundle
	check(t, yaml.Unmarshal(s.secrets, &bundle))
	bundle.Clock = secrets.NewClock()
	certificate, err := bundle.GenerateTalosAPIClientCertificate(role.MakeSet(r))
	check(t, err)
	talosconfig, err := clientconfig.NewConfig("dev", nil, bundle.Certs.OS.Crt, certificate).Bytes()
	check(t, err)
	return talosconfig
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

func TestLogsOfServicesAreStreamed(t *testing.T) {
	s := newSite(t, simtalos.Options{})
	m := s.powerOn(t, "cp-0")
	s.configure(t, m, talos.ControlPlane)
	address := m.Address.Addr().String()
	var text []byte
	var err error
	eventually(t, func(ctx context.Context) bool {
		text, err = s.client.Logs(ctx, address, "kubelet", 500)
		return err == nil && string(text) == "Started task kubelet\nHealth check successful\n"
	}, func() any { return fmt.Sprintf("kubelet: %q, %v", text, err) })
	if text, err := s.client.Logs(t.Context(), address, "machined", 500); err != nil || !strings.Contains(string(text), "[talos] service[kubelet](Running): Started task kubelet\n") {
		t.Errorf("machined: %q, %v", text, err)
	}
	if text, err := s.client.Logs(t.Context(), address, "kubelet", 1); err != nil || string(text) != "Health check successful\n" {
		t.Errorf("the last line: %q, %v", text, err)
	}
	for _, id := range []string{"etcd", "none"} { // etcd was not bootstrapped
		if text, err := s.client.Logs(t.Context(), address, id, 500); err == nil || !strings.Contains(err.Error(), "was not registered") {
			t.Errorf("%s: %q, %v", id, text, err)
		}
	}
	api := machine.NewMachineServiceClient(s.connect(t, address, role.Reader))
	for request, want := range map[*machine.LogsRequest]codes.Code{
		{Namespace: "system", Id: "kubelet", TailLines: -1}:              codes.OK,
		{Namespace: "k8s.io", Id: "kube-system/kube-apiserver-cp-0"}:     codes.Unimplemented,
		{Namespace: "system", Id: "kubelet", TailLines: 0, Follow: true}: codes.Unimplemented,
	} {
		stream, err := api.Logs(t.Context(), request)
		check(t, err)
		if _, err := stream.Recv(); status.Code(err) != want {
			t.Errorf("%v: %v, want %v", request, err, want)
		}
	}
}
