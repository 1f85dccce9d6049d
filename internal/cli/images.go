// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"

	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/image"
	"github.com/butlerdotdev/butler/internal/image/archive"
	"github.com/butlerdotdev/butler/internal/image/gobuild"
	"github.com/butlerdotdev/butler/internal/workspace"
)

func (a App) imagesCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "images",
		Short: "Build, list and push the images of the controllers",
		RunE:  needSubcommand,
	}
	c.AddCommand(a.imagesBuildCommand(), a.imagesListCommand(), a.imagesPushCommand())
	return c
}

// imageFlags are those of images build.
type imageFlags struct {
	to, repository string
	only, arch     []string
}

func (a App) imagesBuildCommand() *cobra.Command {
	var f imageFlags
	c := &cobra.Command{
		Use:   "build --to DIR|FILE.tar",
		Short: "Compile the controllers and write their images as an OCI layout",
		Long: `Compile the controllers of this repository and write their images, for Linux on
amd64 and arm64, as an OCI layout: a directory, or one file if the name ends
with .tar. This requires the repository, Go and make, but no Docker. The same
commit gives the same digests. Each image has a bill of materials (SPDX).`,
		Example: "  butleradm images build --to images.tar\n  butleradm images push --from images.tar --to registry.example.com/butler",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.to == "" {
				return failure.Usagef("--to DIR or --to FILE.tar is required")
			}
			return interrupted(cmd.Context(), a.buildImages(cmd.Context(), f))
		},
	}
	c.Flags().StringVar(&f.to, "to", "", "`DIR` or FILE.tar that the images are written to")
	c.Flags().StringVar(&f.repository, "repository", ".", "`DIR` with the repository")
	c.Flags().StringSliceVar(&f.only, "only", nil, "`NAME` of a program; may be repeated (default: every controller)")
	c.Flags().StringSliceVar(&f.arch, "arch", []string{"amd64", "arm64"}, "`ARCHITECTURE`s of the images")
	return c
}

func (a App) buildImages(ctx context.Context, f imageFlags) error {
	repository, err := gobuild.Open(f.repository)
	if err != nil {
		return failure.New(failure.Usage, err)
	}
	repository.Progress = a.Err
	names, err := f.programs(repository)
	if err != nil {
		return err
	}
	release, err := repository.Release(ctx)
	if err != nil {
		return err
	}
	w, err := archive.NewWriter(f.to, release.Version)
	if err != nil {
		return failure.New(failure.Usage, err)
	}
	if err := a.writeImages(ctx, repository, w, names, f.arch, release); err != nil {
		return errors.Join(err, w.Discard())
	}
	if err := w.Close(); err != nil {
		return err
	}
	fmt.Fprintf(a.Err, "\nPush them with: butleradm images push --from %s --to REGISTRY/PATH\n", workspace.Quoted(f.to))
	return nil
}

// programs returns the programs that get images.
func (f imageFlags) programs(r *gobuild.Repository) ([]string, error) {
	if len(f.only) == 0 {
		return r.Controllers()
	}
	all, err := r.Programs()
	if err != nil {
		return nil, err
	}
	for _, name := range f.only {
		if !slices.Contains(all, name) {
			return nil, failure.Usagef("--only %s: there is no such program; known are %s", name, strings.Join(all, ", "))
		}
	}
	return slices.Sorted(slices.Values(f.only)), nil
}

// writeImages compiles programs for all architectures, and writes their images one by one.
func (a App) writeImages(ctx context.Context, r *gobuild.Repository, w *archive.Writer, names, architectures []string, release image.Release) error {
	dir, err := os.MkdirTemp("", "butler-binaries-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	programs := map[string][]image.Program{}
	for _, arch := range architectures {
		fmt.Fprintf(a.Err, "compiling %d programs for linux/%s\n", len(names), arch)
		built, err := r.Build(ctx, names, v1.Platform{OS: "linux", Architecture: arch}, dir+"/"+arch)
		if err != nil {
			return err
		}
		for _, p := range built {
			programs[p.Name] = append(programs[p.Name], p)
		}
	}
	for _, name := range names {
		set, err := image.NewSet(name, programs[name], release)
		if err != nil {
			return err
		}
		digest, err := w.Add(set)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.Out, "%s:%s %s\n", name, release.Version, digest)
		runtime.GC() // an image and its executable are in memory
	}
	return nil
}

func (a App) imagesListCommand() *cobra.Command {
	var from string
	c := &cobra.Command{
		Use:   "list --from DIR|FILE.tar",
		Short: "Check an OCI layout and list its images with their digests",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			return withArchive(from, func(images []archive.Image) error {
				for _, i := range images {
					fmt.Fprintf(a.Out, "%s:%s %s\n", i.Name, i.Version, i.Digest)
				}
				return nil
			})
		},
	}
	registerFrom(c, &from)
	return c
}

func registerFrom(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "from", "", "`DIR` or FILE.tar with the images: of images build, or of a release")
}

// withArchive calls a function with the images of an archive that was checked.
func withArchive(from string, use func([]archive.Image) error) (err error) {
	if from == "" {
		return failure.Usagef("--from DIR or --from FILE.tar is required")
	}
	opened, err := archive.Open(from)
	if err != nil {
		return failure.New(failure.Usage, err)
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	return use(opened.Images)
}

// readPassword returns the first line of the input.
func readPassword(in io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(in, 64<<10))
	if err != nil {
		return "", fmt.Errorf("read the password: %w", err)
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSuffix(line, "\r"), nil
}
