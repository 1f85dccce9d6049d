// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/selfhosted"
	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/workspace"
)

func (a App) kubeconfigCommand() *cobra.Command {
	return a.credentialCommand("kubeconfig", "Print the kubeconfig of a cluster",
		`Print the kubeconfig of a cluster's administrator. It is valid for a year. If
less than a month is left, it is renewed first, which needs a reachable control
plane. That of a rehearsed cluster uses the proxy of the simulated network, and
works while the simulated platform runs.`,
		bootstrap.SecretKubeconfig)
}

func (a App) talosconfigCommand() *cobra.Command {
	return a.credentialCommand("talosconfig", "Print the talosconfig of a cluster",
		`Print the credentials for the Talos API of a cluster's nodes. They are valid for
a year. If less than a month is left, they are renewed first. The nodes of a
rehearsed cluster can only be reached through the simulated network, which
talosctl cannot use.`, bootstrap.SecretTalosconfig)
}

func (a App) credentialCommand(name, short, long, suffix string) *cobra.Command {
	var c workspace.Choice
	cmd := &cobra.Command{
		Use: name + " CLUSTER", Short: short, Long: long, Args: oneCluster,
		Example: fmt.Sprintf("  butleradm %s dev-cluster > %s", name, name),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := c.Find(args[0])
			if err != nil {
				return err
			}
			data, err := readCredential(cmd.Context(), w, suffix)
			if err == nil && suffix == bootstrap.SecretKubeconfig && w.Rehearsal {
				data, err = throughProxy(w, data, a)
			}
			if err != nil {
				return interrupted(cmd.Context(), err)
			}
			_, err = a.Out.Write(data)
			return err
		},
	}
	registerChoice(&c, cmd)
	return cmd
}

// readCredential reads one of the Secrets that the bootstrap has written.
func readCredential(ctx context.Context, w workspace.Workspace, suffix string) (data []byte, err error) {
	// A cluster that does not answer has left its credentials on this machine.
	err = selfhosted.ReadInCharge(ctx, w, func(c client.Client, cb *v1alpha1.ClusterBootstrap, _ error) error {
		if cb == nil {
			return w.AbsentError()
		}
		dial, err := w.NewDialer()
		if err != nil {
			return err
		}
		data, err = selfhosted.ReadCredential(ctx, c, cb, suffix, dial, false)
		if apierrors.IsNotFound(err) {
			return fmt.Errorf("%s has no %s yet; see %s", w.Name, suffix, w.Command("status"))
		}
		return err
	})
	return data, err
}

// throughProxy sets the proxy of the simulated network in a kubeconfig.
func throughProxy(w workspace.Workspace, data []byte, a App) ([]byte, error) {
	c, err := clientcmd.Load(data)
	if err != nil {
		return nil, err
	}
	proxy, err := os.ReadFile(filepath.Join(w.SimDir(), "proxy"))
	if err != nil {
		return nil, fmt.Errorf("find the simulated network: %w", err)
	}
	for _, cluster := range c.Clusters {
		cluster.ProxyURL = "socks5://" + string(proxy)
	}
	if _, _, running := sim.Running(w.SimDir()); !running {
		fmt.Fprintln(a.Err, "note: the simulated platform is stopped; run the bootstrap command again to start it")
	}
	return clientcmd.Write(*c)
}
