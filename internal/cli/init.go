// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/configs/examples"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/starter"
	"github.com/butlerdotdev/butler/internal/workspace"
	"github.com/butlerdotdev/butler/provider"
)

// initFlags are what a first manifest is written with.
type initFlags struct {
	name, topology, to, credentials string
}

func (a App) initCommand() *cobra.Command {
	var f initFlags
	c := &cobra.Command{
		Use:   "init PROVIDER",
		Short: "Write a first manifest",
		Long: `Write a commented manifest for a provider, to standard output or to the file of
--to. It is an example that can be rehearsed as it is; replace what depends on
your site: butleradm explain describes each field.

On a terminal and with --to, the command asks for these values one by one. Enter
keeps the value of the example. With --credentials it offers what the platform
has, such as images and networks.`,
		Example: "  butleradm init " + a.exampleProvider() + " > cluster.yaml\n  butleradm init " + a.exampleProvider() + " --to cluster.yaml --credentials FILE",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return failure.Usagef("init takes a provider: %s", a.providerNames())
			}
			return nil
		},
		ValidArgsFunction: a.completeProviders,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := a.provider(v1alpha1.ProviderType(args[0]))
			if err != nil {
				return err
			}
			return interrupted(cmd.Context(), a.writeFirst(cmd.Context(), p, f))
		},
	}
	c.Flags().StringVar(&f.name, "name", "", "`NAME` of the cluster (default: that of the example)")
	c.Flags().StringVar(&f.topology, "topology", string(v1alpha1.TopologyHA), "ha or single-node")
	c.Flags().StringVar(&f.to, "to", "", "`FILE` to write; it must not exist")
	c.Flags().StringVar(&f.credentials, "credentials", "", "`PATH` of the platform's credentials, to offer what the platform has")
	return c
}

func (f initFlags) check() error {
	if t := v1alpha1.Topology(f.topology); t != v1alpha1.TopologyHA && t != v1alpha1.TopologySingleNode {
		return failure.Usagef("--topology must be ha or single-node, not %q", f.topology)
	}
	if f.credentials != "" && !f.interactive() {
		return failure.Usagef("--credentials is used to offer values, which requires a terminal and --to FILE")
	}
	if f.name != "" {
		return workspace.CheckName(f.name)
	}
	return nil
}

// interactive reports whether there is a user to ask, and another place for the manifest.
func (f initFlags) interactive() bool { return f.to != "" && term.IsTerminal(os.Stdin.Fd()) }

func (a App) writeFirst(ctx context.Context, p provider.Provider, f initFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	data, err := examples.Manifest(p.Type, v1alpha1.Topology(f.topology))
	if err != nil {
		return err
	}
	values, err := starter.Values(data)
	if err != nil {
		return err
	}
	texts := named(values, f.name)
	if f.interactive() {
		if texts, err = a.askForValues(ctx, p, f, data, values, texts); err != nil {
			return err
		}
	}
	return a.writeManifest(starter.Replace(data, values, texts), p, f)
}

// named are the values of the example, with the name that the user has given.
func named(values []starter.Value, name string) (texts []string) {
	for _, v := range values {
		if text := v.Text; v.Path == "spec.cluster.name" && name != "" {
			texts = append(texts, name)
		} else {
			texts = append(texts, text)
		}
	}
	return texts
}

// writeManifest writes it where the user wants it, and never over another file.
func (a App) writeManifest(data []byte, p provider.Provider, f initFlags) error {
	if f.to == "" {
		_, err := bytes.NewReader(data).WriteTo(a.Out)
		return err
	}
	file, err := os.OpenFile(f.to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return failure.Usagef("write the manifest: %w; choose another file with --to", err)
	}
	if _, err := file.Write(data); err != nil {
		return errors.Join(err, file.Close())
	}
	if err := file.Close(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Err, "wrote %s\n\n  rehearse it: butleradm bootstrap %s -c %s --rehearse\n  plan it:     butleradm plan -c %s --credentials FILE\n",
		f.to, p.Type, workspace.Quoted(f.to), workspace.Quoted(f.to))
	return err
}
