// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	repo "helm.sh/helm/v4/pkg/repo/v1"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/internal/addon"
)

// download takes a chart from an HTTP repository.
func (u upstream) download(ctx context.Context, a addon.Addon) (file, error) {
	index, err := u.indexes.of(ctx, u.client, a.Source.URL)
	if err != nil {
		return file{}, failed(a, chartOf(a), a.Source.URL, err)
	}
	entry, err := lookup(index, a)
	if err != nil {
		return file{}, err
	}
	address, err := repo.ResolveReferenceURL(a.Source.URL, entry.URLs[0])
	if err != nil {
		return file{}, failed(a, chartOf(a), a.Source.URL, errors.New("the address in its index cannot be read"))
	}
	f, err := u.get(ctx, a, chartOf(a), address)
	if err != nil {
		return file{}, err
	}
	if err := intact(a, f, entry.Digest); err != nil {
		return file{}, err
	}
	if u.standIns {
		return f, nil
	}
	return f, published(a, f)
}

// published compares with the checksum that the program has of the version, if it has one: a
// repository whose index was replaced together with the chart does not pass.
func published(a addon.Addon, f file) error {
	if a.Source.Digest == "" || a.Source.Digest == f.digest {
		return nil
	}
	return fmt.Errorf("%s from %s has the checksum %s, and was published with %s: it is not installed; find out why it has changed; --charts with a directory or registry of yours takes another archive",
		chartOf(a), f.origin, f.digest, a.Source.Digest)
}

// intact compares with the checksum of the index, where that has one.
func intact(a addon.Addon, f file, want string) error {
	want = strings.ToLower(strings.TrimPrefix(want, "sha256:"))
	if want == "" || f.digest == "sha256:"+want {
		return nil
	}
	return fmt.Errorf("%s from %s has the checksum %s, and the index of %s says sha256:%s: it was changed or cut on its way; it is not installed",
		chartOf(a), f.origin, f.digest, a.Source.URL, want)
}

// lookup finds a version of a chart, written with a v or without.
func lookup(index *repo.IndexFile, a addon.Addon) (*repo.ChartVersion, error) {
	var versions []string
	for _, e := range index.Entries[a.Source.Chart] {
		if e == nil || e.Metadata == nil || len(e.URLs) == 0 {
			continue
		}
		if same(e.Version, a.Version) {
			return e, nil
		}
		versions = append(versions, e.Version)
	}
	return nil, &Absent{Addon: a.Key, What: chartOf(a), Origin: a.Source.URL, Nearest: nearest(versions, a.Version)}
}

// keep is how long an index is not asked for again: a retry does not need it.
const keep = time.Minute

// shelf keeps the indexes of repositories for a short while.
type shelf struct {
	mu      sync.Mutex
	indexes map[string]shelved
}

type shelved struct {
	index *repo.IndexFile
	until time.Time
}

func newShelf() *shelf { return &shelf{indexes: map[string]shelved{}} }

func (s *shelf) of(ctx context.Context, c *client, repository string) (*repo.IndexFile, error) {
	if index := s.kept(repository); index != nil {
		return index, nil
	}
	data, err := c.get(ctx, strings.TrimSuffix(repository, "/")+"/index.yaml")
	if err != nil {
		return nil, err
	}
	index := &repo.IndexFile{}
	if yaml.Unmarshal(data, index) != nil || index.APIVersion == "" {
		return nil, errors.New("its index.yaml is not an index of charts")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.indexes[repository] = shelved{index, time.Now().Add(keep)}
	return index, nil
}

func (s *shelf) kept(repository string) *repo.IndexFile {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.indexes[repository]; time.Now().Before(k.until) {
		return k.index
	}
	return nil
}
