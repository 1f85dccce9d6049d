// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"net"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	talosclient "github.com/siderolabs/talos/pkg/machinery/client"
	clientconfig "github.com/siderolabs/talos/pkg/machinery/client/config"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/butlerdotdev/butler/internal/talos"
)

// admin is the whole machine service of a configured node, with an administrator's
// certificate.
func (s *site) admin(t *testing.T, address string) machine.MachineServiceClient {
	t.Helper()
	return machine.NewMachineServiceClient(s.connect(t, address, role.Admin))
}

// connect opens the Talos API of a configured node with a certificate of a role.
func (s *site) connect(t *testing.T, address string, r role.Role) *grpc.ClientConn {
	t.Helper()
	config, err := clientconfig.FromBytes(s.talosconfig(t, r))
	check(t, err)
	current := config.Contexts[config.Context]
	certificate, err := talosclient.CertificateFromConfigContext(current)
	check(t, err)
	ca, err := base64.StdEncoding.DecodeString(current.CA)
	check(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	conn, err := grpc.NewClient("passthrough:///"+net.JoinHostPort(address, "50000"),
		grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: roots, Certificates: []tls.Certificate{*certificate},
		})),
		grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) { return s.network.Dial(ctx, "tcp", addr) }))
	check(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// impatient is a control plane that does not wait for a silent kubelet as long as usual.
const impatient = `case $2 in
kube-controller-manager) exec "$real" "$@" --node-monitor-grace-period=15s --node-monitor-period=1s ;;
esac
exec "$real" "$@"
`

func joinWorker(t *testing.T, s *site, client *kubernetes.Clientset) {
	cluster := testCluster()
	cluster.MergePatches = []talos.MergePatch{{YAML: "machine:\n  nodeLabels:\n    node-role.kubernetes.io/worker: \"\"\n"}}
	config, err := talos.Config(s.secrets, cluster, talos.Node{Name: "w-0", Role: talos.Worker})
	check(t, err)
	address := s.powerOn(t, "w-0").Address.Addr().String()
	s.awaitState(t, address, talos.StateMaintenance)
	check(t, s.client.Apply(t.Context(), address, config))
	node := awaitNode(t, client, "w-0")
	for _, label := range []string{"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/worker"} {
		if _, ok := node.Labels[label]; ok {
			t.Errorf("the worker has label %s, which no kubelet may set", label)
		}
	}
	s.awaitState(t, address, talos.StateConfigured)
	noControlPlane(t, s, address)
}

func noControlPlane(t *testing.T, s *site, address string) {
	for name, tc := range map[string]struct {
		call func() error
		want codes.Code
	}{
		"bootstrap":  {func() error { _, err := s.client.Bootstrap(t.Context(), address); return err }, codes.FailedPrecondition},
		"kubeconfig": {func() error { _, err := s.client.Kubeconfig(t.Context(), address); return err }, codes.Unimplemented},
		"members":    {func() error { _, err := s.client.Members(t.Context(), address); return err }, codes.Unimplemented},
		"forwarding": {func() error {
			ctx := metadata.AppendToOutgoingContext(t.Context(), "node", "10.40.0.99")
			_, err := s.admin(t, address).Version(ctx, &emptypb.Empty{})
			return err
		}, codes.PermissionDenied},
	} {
		if err := tc.call(); status.Code(err) != tc.want {
			t.Errorf("%s on a worker: %v, want %v", name, err, tc.want)
		}
	}
	services, err := s.client.Services(t.Context(), address)
	check(t, err)
	for _, service := range services {
		if !service.Up() || service.ID == "etcd" || service.ID == "trustd" {
			t.Errorf("service %+v", service)
		}
	}
}

func machineOff(t *testing.T, s *site, client *kubernetes.Clientset) {
	s.datacenter.PowerOff("w-0")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for !unreachable(ctx, t, func() (*corev1.Node, error) {
		return client.CoreV1().Nodes().Get(ctx, "w-0", metav1.GetOptions{})
	}) {
		select {
		case <-ctx.Done():
			t.Fatal("the node stays Ready")
		case <-time.After(time.Second):
		}
	}
	s.powerOn(t, "w-0")
	awaitNode(t, client, "w-0")
	s.datacenter.PowerOff("w-0")
}

func unreachable(ctx context.Context, t *testing.T, get func() (*corev1.Node, error)) bool {
	t.Helper()
	node, err := get()
	if err != nil {
		t.Fatal(err, ctx.Err())
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionUnknown
		}
	}
	return false
}
