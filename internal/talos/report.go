// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/talos/pkg/machinery/client"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	// versionID is the only resource of its kind. Talos has it since 1.10.
	versionID = "version"
	// schematicExtension is how the image factory records the schematic of an image:
	// as the version of an extension that does nothing.
	schematicExtension = "schematic"
)

// Image is what a node was booted from, as it reports it.
type Image struct {
	Schematic  string // of the image factory; empty: not an image of it
	Extensions []string
}

// Report is what a node says of itself. What it does not say is empty.
type Report struct {
	State State
	// Version of Talos that runs.
	Version string
	// Old says that a node without Version runs a Talos before 1.10.
	Old bool
	// Image that the node was booted from; only asked for in maintenance mode.
	Image
}

// Inspect asks a node for its state, its version and, in maintenance mode, for the
// schematic of its image. The error is that of State.
func (c *Client) Inspect(ctx context.Context, address string) (Report, error) {
	state, version, err := c.handshake(ctx, address)
	report := Report{State: state, Version: version}
	if state != StateMaintenance {
		return report, err
	}
	err = c.call(address, insecure(), func(api *client.Client) error { return report.read(ctx, api.COSI) })
	if err != nil {
		return Report{State: StateUnreachable}, failed("get the image of talos", address, err)
	}
	return report, nil
}

// Image asks a configured node what it was booted from. It is empty if the node does
// not show that.
func (c *Client) Image(ctx context.Context, address string) (image Image, err error) {
	err = c.call(address, c.mutual(), func(api *client.Client) error {
		image, err = imageOf(ctx, api.COSI)
		return unlessHidden(err)
	})
	return image, failed("get the image of talos", address, err)
}

func imageOf(ctx context.Context, node state.State) (image Image, err error) {
	extensions, err := safe.StateListAll[*runtime.ExtensionStatus](ctx, node)
	if err != nil {
		return image, err
	}
	for e := range extensions.All() {
		if m := e.TypedSpec().Metadata; m.Name == schematicExtension {
			image.Schematic = m.Version
		} else {
			image.Extensions = append(image.Extensions, m.Name)
		}
	}
	return image, nil
}

// read takes what a node in maintenance mode shows to everybody. Kinds of resources
// that it does not have are refused like those that it does not show.
func (r *Report) read(ctx context.Context, node state.State) error {
	image, err := imageOf(ctx, node)
	if err != nil {
		return unlessHidden(err)
	}
	if r.Image = image; r.Version != "" {
		return nil
	}
	version, err := safe.StateGetByID[*runtime.Version](ctx, node, versionID)
	if err != nil {
		r.Old = isHidden(err)
		return unlessHidden(err)
	}
	r.Version = version.TypedSpec().Version
	return nil
}

// isHidden reports whether a node does not show, or does not have, a kind of resource.
func isHidden(err error) bool { return status.Code(err) == codes.PermissionDenied }

func unlessHidden(err error) error {
	if isHidden(err) || state.IsNotFoundError(err) || status.Code(err) == codes.Unimplemented {
		return nil
	}
	return err
}

// OtherThan returns the version that runs in place of the wanted one, for people. It
// is empty if that one runs, and if the node does not say.
func (r Report) OtherThan(want string) string {
	switch {
	case r.Version == want:
		return ""
	case r.Version != "":
		return "Talos " + r.Version
	}
	if contract, err := config.ParseContractFromVersion(want); r.Old && err == nil && contract.Greater(config.TalosVersion1_9) {
		return "a Talos before v1.10"
	}
	return ""
}
