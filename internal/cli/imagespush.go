// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/image/archive"
	"github.com/butlerdotdev/butler/internal/registry"
	"github.com/butlerdotdev/butler/internal/ui"
)

type pushFlags struct {
	from, to      string
	passwordStdin bool
	registry      registry.Options
}

func (a App) imagesPushCommand() *cobra.Command {
	var f pushFlags
	c := &cobra.Command{
		Use:   "push --from DIR|FILE.tar --to REGISTRY/PATH",
		Short: "Push images of an OCI layout to a registry",
		Long: `Push the images of an OCI layout, which images build writes and a release has,
to REGISTRY/PATH/NAME:VERSION, with their bills of materials. Every byte is
compared with its digest first. What the registry already has is not sent again,
so that the same command continues after an interruption.

Credentials are those of --username and --password-stdin, else those of
docker login.`,
		Example: "  butleradm images push --from images.tar --to registry.example.com/butler",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return withArchive(f.from, func(images []archive.Image) error {
				return interrupted(cmd.Context(), a.pushImages(cmd.Context(), f, images))
			})
		},
	}
	registerFrom(c, &f.from)
	c.Flags().StringVar(&f.to, "to", "", "`REGISTRY/PATH` that the images are pushed below")
	c.Flags().StringVar(&f.registry.Username, "username", "", "`NAME` to log in with")
	c.Flags().BoolVar(&f.passwordStdin, "password-stdin", false, "read the password from the input")
	c.Flags().StringVar(&f.registry.CA, "ca", "", "PEM `FILE` with the authority of the registry's certificate")
	c.Flags().BoolVar(&f.registry.Insecure, "insecure", false, "use HTTP without TLS")
	return c
}

func (f pushFlags) check() error {
	switch {
	case f.to == "":
		return failure.Usagef("--to REGISTRY/PATH is required")
	case strings.Contains(f.to, "://"):
		return failure.Usagef("--to is a registry and a path, such as registry.example.com/butler, without %s://", strings.SplitN(f.to, "://", 2)[0])
	case f.passwordStdin != (f.registry.Username != ""):
		return failure.Usagef("--username and --password-stdin must be set together")
	}
	return nil
}

func (a App) pushImages(ctx context.Context, f pushFlags, images []archive.Image) (err error) {
	if f.passwordStdin {
		if f.registry.Password, err = readPassword(os.Stdin); err != nil {
			return err
		}
	}
	client, err := registry.New(f.registry)
	if err != nil {
		return failure.New(failure.Usage, err)
	}
	for n, i := range images {
		fmt.Fprintf(a.Err, "pushing %s (%s)\n", i.Name, ui.Part(n, len(images)))
		pushed, err := client.Push(ctx, f.to, i)
		if err != nil {
			return err
		}
		fmt.Fprintln(a.Out, pushed)
	}
	fmt.Fprintf(a.Err, "pushed (%s)\n\nUse them with spec.addons.butlerController.image: %s/butler-controller\n", ui.Part(len(images), len(images)), strings.TrimSuffix(f.to, "/"))
	return nil
}
