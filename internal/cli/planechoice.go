// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/plane/guest"
	"github.com/butlerdotdev/butler/internal/workspace"
)

// choosePlane returns the plane that --plane names. A cluster is asked which one it is.
// A container engine is asked whether it is there.
func (f bootstrapFlags) choosePlane(ctx context.Context, a App, m *manifest.Manifest) (c workspace.PlaneChoice, err error) {
	switch c.Kind = workspace.PlaneKind(f.plane); c.Kind {
	case "", workspace.Embedded:
		return c, nil
	case workspace.Kind:
		c.NodeImage = f.nodeImage
		_, err := workspace.Workspace{}.Engine(a.Hooks.Engine).Exists("butler")
		return c, err
	case workspace.Guest: // a file of that name
	}
	if c.Kubeconfig, err = guest.ReadKubeconfig(f.plane); err != nil {
		return c, err
	}
	is, err := guest.Identify(ctx, c.Kubeconfig)
	c.Record = workspace.Record{Kind: workspace.Guest, Cluster: is.Cluster, Server: is.Server, Namespace: m.Cluster.Namespace}
	return c, err
}
