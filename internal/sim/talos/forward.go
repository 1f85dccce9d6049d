// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/butlerdotdev/butler/internal/pki"
)

// forward passes a call with one answer on to its targets. One target answers as if the
// client had asked it; the answers of many are merged, each with the name of its node and,
// where it failed, the error.
func (n *node) forward(ctx context.Context, r route, method string, request any) (any, error) {
	types, err := typesOf(method)
	if err != nil {
		return nil, err
	}
	answers := make([]proto.Message, len(r.targets))
	var calls errgroup.Group
	for i, target := range r.targets {
		answers[i] = types.answer()
		calls.Go(func() error {
			err := n.invoke(ctx, target, method, request, answers[i])
			if r.many {
				annotate(answers[i].ProtoReflect(), metadataOf(target, err))
				return nil
			}
			return err
		})
	}
	if err := calls.Wait(); err != nil {
		return nil, err
	}
	for _, more := range answers[1:] {
		proto.Merge(answers[0], more)
	}
	return answers[0], nil
}

func (n *node) invoke(ctx context.Context, target, method string, request, answer any) error {
	conn, err := n.connect(target)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return conn.Invoke(n.onBehalf(ctx), method, request, answer)
}

// forwardStream passes a call with a stream of answers on to its targets.
func (n *node) forwardStream(stream grpc.ServerStream, r route, method string) error {
	types, err := typesOf(method)
	if err != nil {
		return err
	}
	request := types.request()
	if err := stream.RecvMsg(request); err != nil {
		return err
	}
	var sending sync.Mutex
	send := func(answer proto.Message) error {
		sending.Lock()
		defer sending.Unlock()
		return stream.SendMsg(answer)
	}
	var calls errgroup.Group
	for _, target := range r.targets {
		calls.Go(func() error {
			if !r.many {
				return n.copyStream(stream.Context(), target, method, request, types, send)
			}
			err := n.copyStream(stream.Context(), target, method, request, types, func(answer proto.Message) error {
				setMetadata(answer.ProtoReflect(), metadataOf(target, nil))
				return send(answer)
			})
			if err == nil {
				return nil
			}
			failure := types.answer()
			setMetadata(failure.ProtoReflect(), metadataOf(target, err))
			return send(failure)
		})
	}
	return calls.Wait()
}

func (n *node) copyStream(ctx context.Context, target, method string, request proto.Message, t types, send func(proto.Message) error) error {
	conn, err := n.connect(target)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	far, err := conn.NewStream(n.onBehalf(ctx), &grpc.StreamDesc{ServerStreams: true}, method)
	if err == nil {
		err = errors.Join(far.SendMsg(request), far.CloseSend())
	}
	if err != nil {
		return err
	}
	for {
		answer := t.answer()
		if err := far.RecvMsg(answer); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := send(answer); err != nil {
			return err
		}
	}
}

// onBehalf is a call of the client's, under its roles.
func (n *node) onBehalf(ctx context.Context) context.Context {
	md, _ := metadata.FromIncomingContext(ctx)
	md = md.Copy()
	md.Set(constants.APIAuthzRoleMetadataKey, clientRoles(ctx).Strings()...)
	md.Set(proxyFromKey, n.address().String())
	for _, key := range []string{":authority", nodeKey, nodesKey} {
		delete(md, key)
	}
	return metadata.NewOutgoingContext(ctx, md)
}

// connect opens the Talos API of a node with this node's own certificate.
func (n *node) connect(target string) (*grpc.ClientConn, error) {
	config, err := n.clientTLS()
	if err != nil {
		return nil, err
	}
	if target == n.hostname() {
		target = n.address().String() // a node resolves its own name
	}
	return grpc.NewClient("passthrough:///"+net.JoinHostPort(target, strconv.Itoa(constants.ApidPort)),
		grpc.WithTransportCredentials(credentials.NewTLS(config)),
		grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) {
			return n.emulator.options.Network.DialFrom(ctx, n.source(), "tcp", addr)
		}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(constants.GRPCMaxMessageSize)))
}

// clientTLS is how a control plane shows itself to others: it may act under the roles of
// its clients.
func (n *node) clientTLS() (*tls.Config, error) {
	ca := n.talosCA()
	pair, err := ca.Issue(pki.Request{CommonName: n.hostname(), Organizations: []string{string(role.Impersonator)}, Client: true})
	if err != nil {
		return nil, err
	}
	certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.Cert)
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, Certificates: []tls.Certificate{certificate}}, nil
}

func metadataOf(target string, err error) *common.Metadata {
	m := &common.Metadata{Hostname: target}
	if err != nil {
		m.Error, m.Status = err.Error(), status.Convert(err).Proto()
	}
	return m
}
