// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/standin"
)

// shelf knows what is served at which address. Content is made when it is first
// asked for, and kept.
type shelf struct {
	items  map[string]*item        // by host and path
	images map[string]*image       // by host and path
	addons map[fault.Kind][]string // that each kind of fault can happen to
	ports  map[string]bool         // hosts of images with a port of their own
}

// item is what one address answers with.
type item struct {
	addons    []string // whose faults it shares
	mediaType string
	content   func() ([]byte, error)
	image     bool   // of a controller: it can be missing
	digest    string // by which it is known; empty: that of the content
}

func newShelf(artifacts []Artifact) (*shelf, error) {
	s := &shelf{items: map[string]*item{}, images: map[string]*image{}, addons: map[fault.Kind][]string{}, ports: map[string]bool{}}
	repositories := map[string]*repository{}
	var wrong []error
	for _, a := range artifacts {
		if err := s.put(a, repositories); err != nil {
			wrong = append(wrong, fmt.Errorf("%s %s %s of the addon %s: %w", a.Kind, a.URL, a.Version, a.Addon, err))
		}
	}
	for address, r := range repositories {
		s.items[address+"/index.yaml"] = r.item()
	}
	return s, errors.Join(wrong...)
}

func (s *shelf) put(a Artifact, repositories map[string]*repository) error {
	u, err := url.Parse(strings.ReplaceAll(a.URL, "%s", a.Version))
	if err != nil {
		return err
	}
	if a.Kind == Image && u.Scheme == "oci" && u.Host != "" {
		s.putImage(a, u)
		return nil
	}
	if u.Host == "" || u.Port() != "" {
		return errors.New("its address has no host, or a port of its own")
	}
	address := u.Host + path.Clean("/"+u.Path)
	switch {
	case a.Kind == Chart && u.Scheme == "oci":
		return s.putOCI(a, u)
	case a.Kind == Chart && u.Scheme == "https":
		return s.putChart(a, strings.TrimSuffix(address, "/"), repositories)
	case (a.Kind == Manifest || a.Kind == Provider) && u.Scheme == "https":
		return s.putFile(a, u)
	}
	return fmt.Errorf("a %s does not come by %s", a.Kind, u.Scheme)
}

// putChart serves the archive of a chart beside the index of its repository.
func (s *shelf) putChart(a Artifact, at string, repositories map[string]*repository) error {
	c, err := standin.NewChart(a.Addon, a.Name, a.Version)
	if err != nil {
		return err
	}
	r := repositories[at]
	if r == nil {
		r = &repository{}
		repositories[at] = r
	}
	archive := once(c.Archive)
	file := a.Name + "-" + a.Version + ".tgz"
	r.add(entry{chart: c, file: file, archive: archive, addon: a.Addon})
	s.items[at+"/"+file] = &item{addons: []string{a.Addon}, mediaType: "application/gzip", content: archive}
	s.note(a.Addon, c.Traits)
	return nil
}

// note remembers what can go wrong with an addon.
func (s *shelf) note(addon string, t standin.Traits) {
	for kind, can := range map[fault.Kind]bool{
		fault.ChartUnavailable: true, fault.AddonNotReady: t.Pods, fault.WebhookRefuses: t.Webhooks, fault.HookFails: t.Hooks,
	} {
		if can && !slices.Contains(s.addons[kind], addon) {
			s.addons[kind] = append(s.addons[kind], addon)
		}
	}
}

func (s *shelf) hosts() []string {
	hosts := map[string]bool{}
	for _, address := range slices.AppendSeq(slices.Collect(maps.Keys(s.items)), maps.Keys(s.images)) {
		host, _, _ := strings.Cut(address, "/")
		hosts[host] = true
	}
	return slices.Sorted(maps.Keys(hosts))
}

// find is what an address answers with; nil if nothing does.
func (s *shelf) find(host, at string) (*item, error) {
	if i := s.items[host+at]; i != nil {
		return i, nil
	}
	for address, i := range s.images {
		if rest, ok := strings.CutPrefix(host+at, address+"/"); ok {
			return i.find(rest)
		}
	}
	if at == "/v2/" && s.hasImages(host) {
		return &item{mediaType: "application/json", content: func() ([]byte, error) { return []byte("{}"), nil }}, nil
	}
	return nil, nil
}

func (s *shelf) hasImages(host string) bool {
	for _, address := range slices.AppendSeq(slices.Collect(maps.Keys(s.images)), maps.Keys(s.items)) {
		if strings.HasPrefix(address, host+"/v2/") {
			return true
		}
	}
	return false
}
