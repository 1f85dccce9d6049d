// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package release is what a release of butleradm knows of itself: the digests of the images
// that were built with it, and the versions of its parts. No controller links it: an image
// cannot have its own digest in it.
package release

import "github.com/butlerdotdev/butler/internal/version"

// Set by the linker in a release: NAME=sha256:…, separated by commas.
var digests = ""

// Digests returns the digests of the images of this release by name. Other builds have none.
func Digests() (map[string]string, error) { return version.ParseDigests(digests) }
