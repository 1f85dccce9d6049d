// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterapi

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

// webhookServer serves webhooks without TLS: the emulated network of the cluster ends that of
// the API server, with a certificate that the API server trusts.
type webhookServer struct {
	address string
	mux     *http.ServeMux
	started atomic.Bool
}

func newWebhookServer(address string) *webhookServer {
	return &webhookServer{address: address, mux: http.NewServeMux()}
}

// NeedLeaderElection says that every replica answers.
func (*webhookServer) NeedLeaderElection() bool { return false }

// Register serves a webhook at a path.
func (s *webhookServer) Register(path string, h http.Handler) { s.mux.Handle(path, h) }

// WebhookMux returns where webhooks are registered.
func (s *webhookServer) WebhookMux() *http.ServeMux { return s.mux }

// StartedChecker reports an error until the server listens.
func (s *webhookServer) StartedChecker() healthz.Checker {
	return func(*http.Request) error {
		if !s.started.Load() {
			return errors.New("the webhooks do not answer yet")
		}
		return nil
	}
}

// Start serves until ctx ends.
func (s *webhookServer) Start(ctx context.Context) error {
	if s.address == "" {
		s.started.Store(true)
		<-ctx.Done()
		return nil
	}
	l, err := net.Listen("tcp", s.address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: s.mux, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	s.started.Store(true)
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
