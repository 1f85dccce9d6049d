// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"crypto/tls"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/client"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Apply hands a configuration to a node in maintenance mode, which then
// installs itself and restarts.
//
// A node in maintenance mode has no identity: it has a self-signed certificate and
// requests none from the client. The configuration, which holds the cluster's secrets,
// is encrypted but sent to any process that answers at the address. Talos works so;
// the network between has to be trusted.
func (c *Client) Apply(ctx context.Context, address string, config []byte) error {
	err := c.call(address, insecure(), func(api *client.Client) error {
		_, err := api.ApplyConfiguration(ctx, &machine.ApplyConfigurationRequest{
			Data: config,
			Mode: machine.ApplyConfigurationRequest_REBOOT,
		})
		return err
	})
	return failed("apply configuration", address, err)
}

// Update applies another configuration to a configured node. It is refused if the node had to
// restart for it.
func (c *Client) Update(ctx context.Context, address string, config []byte) error {
	err := c.call(address, c.mutual(), func(api *client.Client) error {
		_, err := api.ApplyConfiguration(ctx, &machine.ApplyConfigurationRequest{
			Data: config,
			Mode: machine.ApplyConfigurationRequest_NO_REBOOT,
		})
		return err
	})
	return failed("update configuration", address, err)
}

// insecure is the TLS of a node in maintenance mode, see Apply.
func insecure() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}
}

// Bootstrap makes the node the first member of a new etcd cluster. It does so
// at most once: already is true when etcd's data is there from an earlier
// call. FailedPrecondition means that the node is still starting.
func (c *Client) Bootstrap(ctx context.Context, address string) (already bool, err error) {
	err = c.call(address, c.mutual(), func(api *client.Client) error {
		return api.Bootstrap(ctx, &machine.BootstrapRequest{})
	})
	if status.Code(err) == codes.AlreadyExists {
		return true, nil
	}
	return false, failed("bootstrap etcd", address, err)
}

// Kubeconfig returns an administrator's kubeconfig, freshly issued by a
// control plane. It names the cluster's endpoint, which may not answer yet: to
// reach the API server before, dial the node and keep the endpoint as server
// name.
func (c *Client) Kubeconfig(ctx context.Context, address string) ([]byte, error) {
	var kubeconfig []byte
	err := c.call(address, c.mutual(), func(api *client.Client) (err error) {
		kubeconfig, err = api.Kubeconfig(ctx)
		return err
	})
	return kubeconfig, failed("fetch kubeconfig", address, err)
}

// Version returns the version of Talos that runs on a configured node.
func (c *Client) Version(ctx context.Context, address string) (string, error) {
	var version string
	err := c.call(address, c.mutual(), func(api *client.Client) error {
		reply, err := api.Version(ctx)
		version = tag(reply)
		return err
	})
	return version, failed("ask version", address, err)
}

func tag(reply *machine.VersionResponse) string {
	if len(reply.GetMessages()) == 0 {
		return ""
	}
	return reply.GetMessages()[0].GetVersion().GetTag()
}

// Reset wipes a configured node, leaving etcd first if graceful is set, and
// restarts it into maintenance mode.
func (c *Client) Reset(ctx context.Context, address string, graceful bool) error {
	err := c.call(address, c.mutual(), func(api *client.Client) error {
		return api.Reset(ctx, graceful, true)
	})
	return failed("reset", address, err)
}
