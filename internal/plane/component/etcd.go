// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage"
)

// runEtcd serves a single member on a loopback port of its own choice.
func runEtcd(ctx context.Context, args []string) error {
	var tls transport.TLSInfo
	flags := flag.NewFlagSet("etcd", flag.ContinueOnError)
	dir := flags.String("data-dir", "", "")
	flags.StringVar(&tls.CertFile, "cert-file", "", "")
	flags.StringVar(&tls.KeyFile, "key-file", "", "")
	flags.StringVar(&tls.TrustedCAFile, "trusted-ca-file", "", "")
	quota := flags.Int64("quota-backend-bytes", 0, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	config := etcdConfig(*dir, tls)
	if *quota > 0 {
		config.QuotaBackendBytes = *quota
	}
	e, err := embed.StartEtcd(config)
	if err != nil {
		return err
	}
	defer e.Close()
	select {
	case <-e.Server.ReadyNotify():
	case err := <-e.Err():
		return err
	case <-ctx.Done():
		return nil
	}
	if err := makeRoom(ctx, e.Server); err != nil {
		return err
	}
	ready(e.Clients[0].Addr().String())
	return serve(ctx, e)
}

// serve returns when etcd has ended, or has to.
func serve(ctx context.Context, e *embed.Etcd) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	full := make(chan error, 1)
	go func() { full <- awaitFull(ctx, e.Server) }()
	select {
	case err := <-e.Err():
		return fmt.Errorf("etcd ended: %w", err)
	case err := <-full:
		return err
	}
}

func etcdConfig(dir string, tls transport.TLSInfo) *embed.Config {
	c := embed.NewConfig()
	c.Name, c.Dir = "plane", dir
	c.LogLevel, c.LogOutputs = "warn", []string{"stderr"}
	c.WarningUnaryRequestDuration = time.Second
	c.EnableGRPCGateway = false
	tls.ClientCertAuth = true
	c.ClientTLSInfo = tls
	c.ListenClientUrls = []url.URL{{Scheme: "https", Host: "127.0.0.1:0"}}
	c.AdvertiseClientUrls = c.ListenClientUrls
	// A member without peers still needs a peer listener: a socket beside the data.
	c.ListenPeerUrls = []url.URL{{Scheme: "unix", Host: "peer:0"}}
	c.AdvertisePeerUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:1"}}
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	// The value that etcd uses for 0, so that errors can name it.
	c.QuotaBackendBytes = storage.DefaultQuotaBytes
	// Writes are flushed to disk before they are acknowledged, as is the default of etcd.
	// There is no other member for an election.
	c.TickMs, c.ElectionMs = 10, 50
	return c
}
