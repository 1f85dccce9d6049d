// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/standin"
)

// The media types of a chart in a registry.
const (
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.cncf.helm.config.v1+json"
	layerType    = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	blobType     = "application/octet-stream"
)

// putOCI serves a chart as a registry does: a manifest by its tag, and by digest
// all that it consists of.
func (s *shelf) putOCI(a Artifact, u *url.URL) error {
	name := strings.Trim(u.Path, "/")
	if path.Base(name) != a.Name {
		return fmt.Errorf("it does not end with the chart's name %s", a.Name)
	}
	c, err := standin.NewChart(a.Addon, a.Name, a.Version)
	if err != nil {
		return err
	}
	at := path.Join(u.Host, "v2", name)
	i := s.images[at]
	if i == nil {
		i = &image{name: name}
		s.images[at] = i
	}
	i.tagged = append(i.tagged, &tagged{chart: c, addon: a.Addon, archive: once(c.Archive)})
	s.note(a.Addon, c.Traits)
	return nil
}

// image is a repository of a registry.
type image struct {
	name   string
	tagged []*tagged
}

// tagged is one version of a chart.
type tagged struct {
	chart   *standin.Chart
	addon   string
	archive func() ([]byte, error)
}

// tag is the version; a registry does not take the plus of one.
func (t *tagged) tag() string { return strings.ReplaceAll(t.chart.Version, "+", "_") }

// blob is something that has a digest.
type blob struct {
	mediaType string
	content   []byte
}

func (b blob) digest() string { return "sha256:" + sum(b.content) }

func (b blob) descriptor() map[string]any {
	return map[string]any{"mediaType": b.mediaType, "digest": b.digest(), "size": len(b.content)}
}

// blobs are the manifest and what it names.
func (t *tagged) blobs() (manifest blob, parts []blob, err error) {
	archive, err := t.archive()
	if err != nil {
		return blob{}, nil, err
	}
	metadata, err := t.chart.Metadata()
	if err != nil {
		return blob{}, nil, err
	}
	config, layer := blob{configType, metadata}, blob{layerType, archive}
	content, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": manifestType, "config": config.descriptor(), "layers": []any{layer.descriptor()},
	})
	return blob{manifestType, content}, []blob{config, layer}, err
}

// find is the item of a path below the image, such as manifests/1.0.0.
func (i *image) find(rest string) (*item, error) {
	kind, reference, _ := strings.Cut(rest, "/")
	if kind == "tags" && reference == "list" {
		return i.tags()
	}
	for _, t := range i.tagged {
		manifest, parts, err := t.blobs()
		if err != nil {
			return nil, err
		}
		if kind == "manifests" && (reference == t.tag() || reference == manifest.digest()) {
			return t.item(manifest, manifestType), nil
		}
		for _, b := range parts {
			if kind == "blobs" && reference == b.digest() {
				return t.item(b, blobType), nil
			}
		}
	}
	return nil, nil
}

func (t *tagged) item(b blob, mediaType string) *item {
	return &item{addons: []string{t.addon}, mediaType: mediaType, content: func() ([]byte, error) { return b.content, nil }}
}

func (i *image) tags() (*item, error) {
	var tags, addons []string
	for _, t := range i.tagged {
		tags, addons = append(tags, t.tag()), append(addons, t.addon)
	}
	content, err := json.Marshal(map[string]any{"name": i.name, "tags": tags})
	return &item{addons: addons, mediaType: "application/json", content: func() ([]byte, error) { return content, nil }}, err
}
