// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"oras.land/oras-go/v2/registry"
)

const ociScheme = "oci://"

const allowed = "name a directory, a registry such as oci://registry.example.com/charts, or upstream"

// placeOf is the place that the user means.
func placeOf(o Options, c *client) (place, error) {
	scheme, rest, remote := strings.Cut(o.Charts, "://")
	switch {
	case o.Charts == "" || o.Charts == Upstream:
		return upstream{client: c, indexes: newShelf(), standIns: o.StandIns}, nil
	case strings.HasPrefix(o.Charts, ociScheme):
		return mirrorAt(rest, c)
	case remote:
		return nil, fmt.Errorf("charts cannot come from an address that begins with %s://: %s", scheme, allowed)
	}
	return directoryAt(o.Charts)
}

// host is a name or an address, possibly with a port.
var host = regexp.MustCompile(`^([a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?|\[[0-9a-fA-F:]+\])(:[0-9]+)?$`)

func mirrorAt(address string, c *client) (place, error) {
	base := strings.TrimSuffix(address, "/")
	if strings.Contains(base, "@") {
		return nil, errors.New("charts cannot come from a registry with credentials or a digest in its address: use one without a login, such as oci://registry.example.com/charts")
	}
	// A registry alone is no repository yet; the name of a chart makes it one.
	ref, err := registry.ParseReference(base + "/chart")
	if err != nil || ref.Reference != "" || !host.MatchString(ref.Registry) {
		return nil, fmt.Errorf("charts cannot come from %s%s, which is not the address of a registry: %s", ociScheme, address, allowed)
	}
	return mirror{base: base, client: c}, nil
}

func directoryAt(path string) (place, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("charts cannot come from %s, which does not exist: %s", path, allowed)
	case err != nil:
		return nil, fmt.Errorf("charts cannot come from a directory: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("charts cannot come from %s, which is not a directory: %s", path, allowed)
	}
	return directory(path), nil
}
