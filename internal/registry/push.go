// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/butlerdotdev/butler/internal/image/archive"
)

// Push copies an image of an archive below a path of a registry, under its name and version,
// with what is attached to it. Content that is there already is not sent again, so that a
// push that was cut off continues.
func (c *Client) Push(ctx context.Context, to string, i archive.Image) (pushed string, err error) {
	tag, err := name.NewTag(strings.TrimSuffix(to, "/")+"/"+i.Name+":"+i.Version, append(c.names, name.StrictValidation)...)
	if err != nil {
		return "", fmt.Errorf("push %s: %w", i.Name, err)
	}
	pusher, err := remote.NewPusher(append(slices.Clone(c.options), remote.WithContext(ctx))...)
	if err != nil {
		return "", err
	}
	if err := pusher.Push(ctx, tag, i.Index); err != nil {
		return "", fmt.Errorf("push %s: %w", tag, reason(err))
	}
	for _, a := range i.Attached {
		if err := pushAttached(ctx, pusher, tag.Context(), a); err != nil {
			return "", fmt.Errorf("push what is attached to %s: %w", tag, reason(err))
		}
	}
	return tag.String() + "@" + i.Digest.String(), nil
}

func pushAttached(ctx context.Context, p *remote.Pusher, to name.Repository, a v1.Image) error {
	digest, err := a.Digest()
	if err != nil {
		return err
	}
	return p.Push(ctx, to.Digest(digest.String()), a)
}
