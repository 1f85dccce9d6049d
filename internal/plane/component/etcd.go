// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage"
)

// runEtcd serves a single member on a socket in its working directory. A process that may open the socket
// may read the data beside it, so that encryption would protect nothing: it took about a seventh of the work
// of the start of a plane.
func runEtcd(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("etcd", flag.ContinueOnError)
	dir := flags.String("data-dir", "", "")
	quota := flags.Int64("quota-backend-bytes", 0, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	config := etcdConfig(*dir)
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

func etcdConfig(dir string) *embed.Config {
	c := embed.NewConfig()
	c.Name, c.Dir = "plane", dir
	c.LogLevel, c.LogOutputs = "warn", []string{"stderr"}
	c.WarningUnaryRequestDuration = time.Second
	c.EnableGRPCGateway = false
	// With a name of its own, so that a second process does not take the socket of the first.
	c.ListenClientUrls = []url.URL{{Scheme: "unix", Host: fmt.Sprintf("client-%d:0", os.Getpid())}}
	// A member without peers still needs a peer listener.
	c.ListenPeerUrls = []url.URL{{Scheme: "unix", Host: "peer:0"}}
	// Nothing uses what is advertised, but it has to be an address.
	nowhere := []url.URL{{Scheme: "http", Host: "127.0.0.1:1"}}
	c.AdvertiseClientUrls, c.AdvertisePeerUrls = nowhere, nowhere
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	// The value that etcd uses for 0, so that errors can name it.
	c.QuotaBackendBytes = storage.DefaultQuotaBytes
	// Writes are flushed to disk before they are acknowledged, as is the default of etcd.
	// There is no other member for an election.
	c.TickMs, c.ElectionMs = 10, 50
	return c
}
