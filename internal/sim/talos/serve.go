// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/protobuf/server"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/api/storage"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/butlerdotdev/butler/internal/pki"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// goodbye is how long calls under way may take when a node restarts.
const goodbye = 5 * time.Second

// api is one appearance of the Talos API: in maintenance mode or configured.
type api struct {
	machine   machine.MachineServiceServer
	resources state.State
	options   []grpc.ServerOption
}

func (a api) server(config *tls.Config, m datacenter.Machine) *grpc.Server {
	s := grpc.NewServer(append(a.options,
		grpc.Creds(credentials.NewTLS(config)),
		grpc.MaxRecvMsgSize(constants.GRPCMaxMessageSize))...)
	machine.RegisterMachineServiceServer(s, a.machine)
	storage.RegisterStorageServiceServer(s, disks{machine: m})
	v1alpha1.RegisterStateServer(s, server.NewState(readOnly(a.resources, imageNamed(m.Image))))
	return s
}

// serve answers at the machine's address until ctx ends, then lets calls finish
// unless the machine is powered off.
func (a api) serve(ctx, power context.Context, m datacenter.Machine, config *tls.Config) error {
	listener, err := m.Host.Listen(constants.ApidPort)
	if err != nil {
		return err
	}
	s := a.server(config, m)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(listener) }()
	select {
	case err := <-ended:
		return errors.Join(errors.New("the talos API ended"), err)
	case <-ctx.Done():
	}
	stop(power, s, listener)
	return context.Cause(ctx)
}

func stop(power context.Context, s *grpc.Server, listener net.Listener) {
	_ = listener.Close()
	defer s.Stop()
	finished := make(chan struct{})
	go func() {
		s.GracefulStop()
		close(finished)
	}()
	select {
	case <-finished:
	case <-power.Done():
	case <-time.After(goodbye):
	}
}

func serverCertificate(ca pki.CA, names ...string) (tls.Certificate, error) {
	pair, err := ca.Issue(pki.Request{CommonName: names[0], Names: names, Server: true})
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(pair.Cert, pair.Key)
}
