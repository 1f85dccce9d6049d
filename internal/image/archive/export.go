// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"fmt"
	"io"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/match"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Export writes the image of an architecture under a name, as docker save does.
func (i Image) Export(w io.Writer, reference, architecture string) error {
	tag, err := name.NewTag(reference)
	if err != nil {
		return err
	}
	found, err := partial.FindImages(i.Index, match.Platforms(v1.Platform{OS: "linux", Architecture: architecture}))
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fmt.Errorf("image %s is not there for linux/%s", i.Name, architecture)
	}
	return tarball.Write(tag, found[0], w)
}
