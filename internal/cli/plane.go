// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/workspace"
)

func (a App) planeCommand() *cobra.Command {
	var dir string
	var port int
	c := &cobra.Command{
		Use:   "plane",
		Short: "Run a local control plane in the foreground",
		Long: `Run a local control plane in the foreground until Ctrl-C: etcd and
kube-apiserver with the kinds of this project. The next start in the same
directory restores all objects.`,
		Example: "  butleradm plane --state-dir ./plane\n  kubectl --kubeconfig ./plane/kubeconfig get machinerequests -A",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				return failure.Usagef("--state-dir DIR is required")
			}
			return a.runPlane(cmd.Context(), dir, port)
		},
	}
	c.Flags().StringVar(&dir, "state-dir", "", "`DIR` of the plane's state")
	c.Flags().IntVar(&port, "port", 0, "port of the API server (default: the one used last, else any free port)")
	return c
}

func (a App) runPlane(ctx context.Context, dir string, port int) error {
	begin := time.Now()
	if err := workspace.ClaimAlone(dir, workspace.IsPlane); err != nil {
		return err
	}
	p, err := workspace.OpenPlane(ctx, plane.Options{Dir: dir, Holder: "butleradm plane", Port: port, Quota: a.Hooks.Quota})
	if err != nil {
		return interrupted(ctx, err)
	}
	fmt.Fprintf(a.Out, "kubeconfig: %s\nready in %.1fs\n", filepath.Join(dir, "kubeconfig"), time.Since(begin).Seconds())
	select {
	case <-ctx.Done():
		return p.Stop()
	case <-p.Done():
		return errors.Join(p.Err(), p.Stop())
	}
}
