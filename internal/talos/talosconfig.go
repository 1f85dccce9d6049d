// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"fmt"

	clientconfig "github.com/siderolabs/talos/pkg/machinery/client/config"
	"github.com/siderolabs/talos/pkg/machinery/role"
)

// Talosconfig returns a client configuration with a fresh administrator
// certificate, valid for a year. Endpoints are addresses of control planes, or of what
// has control planes behind it; nodes are the default ones.
func Talosconfig(secrets []byte, clusterName string, endpoints, nodes []string) ([]byte, error) {
	bundle, err := parseSecrets(secrets)
	if err != nil {
		return nil, fmt.Errorf("talosconfig of cluster %q: %w", clusterName, err)
	}
	certificate, err := bundle.GenerateTalosAPIClientCertificate(role.MakeSet(role.Admin))
	if err != nil {
		return nil, fmt.Errorf("talosconfig of cluster %q: issue client certificate: %w", clusterName, err)
	}
	cfg := clientconfig.NewConfig(clusterName, endpoints, bundle.Certs.OS.Crt, certificate)
	cfg.Contexts[clusterName].Nodes = nodes
	return cfg.Bytes()
}
