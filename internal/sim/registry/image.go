// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"net/http"
	"net/url"
	"path"
	"slices"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

const indexType = "application/vnd.oci.image.index.v1+json"

// noImage is the manifest of an image that nothing is pulled of: the pods of a simulated
// cluster run without images.
const noImage = `{"schemaVersion":2,"mediaType":"` + indexType + `","manifests":[]}`

// putImage serves the manifest of an image, by its tag and, if it has one, by its digest.
func (s *shelf) putImage(a Artifact, u *url.URL) {
	at := path.Join(u.Hostname(), "v2", u.Path, "manifests")
	i := &item{
		addons: []string{a.Addon}, mediaType: indexType, image: true, digest: a.Digest,
		content: func() ([]byte, error) { return []byte(noImage), nil },
	}
	s.items[at+"/"+a.Version] = i
	if a.Digest != "" {
		s.items[at+"/"+a.Digest] = i
	}
	if u.Port() != "" {
		s.ports[u.Host] = true
	}
	if !slices.Contains(s.addons[fault.ImageMissing], a.Addon) {
		s.addons[fault.ImageMissing] = append(s.addons[fault.ImageMissing], a.Addon)
	}
}

// refuseImage returns why an image cannot be had. Content with the digest of a real image
// cannot be made up: such an image has a head only.
func (r *Registry) refuseImage(q *http.Request, i *item) error {
	for _, addon := range i.addons {
		if _, missing := r.options.Faults.AddonFails(fault.ImageMissing, addon); missing {
			return &refusal{http.StatusNotFound, "MANIFEST_UNKNOWN", "the fault plan removes the image of " + addon}
		}
	}
	if i.digest != "" && q.Method != http.MethodHead {
		return &refusal{http.StatusNotFound, "MANIFEST_UNKNOWN", "a rehearsal has no content of images"}
	}
	return nil
}
