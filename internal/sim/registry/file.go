// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"errors"
	"net/url"
	"path"
	"strings"
	"sync"

	"github.com/butlerdotdev/butler/internal/sim/standin"
)

const yamlType = "application/octet-stream"

// putFile serves a file of a release on GitHub where it is downloaded from, and
// the metadata beside the components of a provider.
func (s *shelf) putFile(a Artifact, u *url.URL) error {
	repository, file, err := released(u.Path)
	if err != nil {
		return err
	}
	m, err := standin.NewManifest(a.Addon, repository, file, a.Version)
	if err != nil {
		return err
	}
	dir := path.Join(u.Host, repository, "releases/download", a.Version)
	s.items[dir+"/"+file] = &item{addons: []string{a.Addon}, mediaType: yamlType, content: once(m.YAML)}
	if a.Kind == Provider {
		metadata := func() ([]byte, error) { return standin.Metadata(repository, a.Version) }
		if _, err := metadata(); err != nil {
			return err
		}
		s.items[dir+"/metadata.yaml"] = &item{addons: []string{a.Addon}, mediaType: yamlType, content: once(metadata)}
	}
	s.note(a.Addon, m.Traits)
	return nil
}

// released takes the path of a release's file apart, in the form of a download
// or in that of clusterctl: owner/name/releases[/download]/version/file.
func released(file string) (repository, name string, err error) {
	parts := strings.Split(strings.Trim(file, "/"), "/")
	if len(parts) < 5 || parts[2] != "releases" {
		return "", "", errors.New("it is not the file of a release on GitHub")
	}
	return parts[0] + "/" + parts[1], parts[len(parts)-1], nil
}

// once makes content when it is first asked for, and keeps it.
func once(made func() ([]byte, error)) func() ([]byte, error) { return sync.OnceValues(made) }
