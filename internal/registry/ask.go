// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// Refusal says that a registry was asked for an image and did not give it.
type Refusal struct {
	// Status of its answer.
	Status int
}

func (r *Refusal) Error() string {
	text := fmt.Sprintf("the registry answered %d %s", r.Status, http.StatusText(r.Status))
	if r.Status != http.StatusNotFound {
		text += ": the image is not there, or it requires credentials"
	}
	return text
}

// Location is where an image is.
type Location struct {
	// Host of the registry, with its port if it has one of its own.
	Host string
	// Path of the repository.
	Path string
}

// Locate parses the name of an image as nodes do: a name without a host is one of
// Docker Hub.
func Locate(reference string) (Location, error) {
	r, err := name.ParseReference(reference)
	if err != nil {
		return Location{}, err
	}
	return Location{r.Context().RegistryStr(), r.Context().RepositoryStr()}, nil
}

// Ask requests the manifest of an image, once, as a node does that pulls it. The error is a
// Refusal if the registry says no; any other means that it could not be asked.
func (c *Client) Ask(ctx context.Context, reference string) error {
	r, err := name.ParseReference(reference, c.names...)
	if err != nil {
		return err
	}
	_, err = remote.Head(r, append(slices.Clone(c.options), remote.WithContext(ctx), remote.WithRetryBackoff(remote.Backoff{Steps: 1}))...)
	if answer, ok := errors.AsType[*transport.Error](err); ok {
		switch answer.StatusCode {
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
			return &Refusal{answer.StatusCode}
		}
	}
	return reason(err)
}
