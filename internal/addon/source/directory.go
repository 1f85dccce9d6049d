// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	"helm.sh/helm/v4/pkg/chart/v2/loader"

	"github.com/butlerdotdev/butler/internal/addon"
)

// directory has what a site without a way out has been given: charts as Helm
// pulls them, or unpacked; manifests; and components as clusterctl keeps them.
type directory string

func archiveName(chart, version string) string           { return chart + "-" + version + ".tgz" }
func manifestName(a addon.Addon) string                  { return a.Key + "-" + a.Version + ".yaml" }
func componentName(p addon.Provider, name string) string { return path.Join(label(p), p.Version, name) }

func (d directory) chart(_ context.Context, a addon.Addon) (file, error) {
	for _, version := range spellings(a.Version) {
		f, err := d.read(archiveName(a.Source.Chart, version))
		switch {
		case err == nil:
			return f, nil
		case !errors.Is(err, errAbsent):
			return file{}, failed(a, chartOf(a), string(d), err)
		}
	}
	f, found, err := d.unpacked(a.Source.Chart)
	switch {
	case err != nil:
		return file{}, failed(a, chartOf(a), string(d), err)
	case same(found, a.Version):
		return f, nil
	}
	return file{}, &Absent{Addon: a.Key, What: chartOf(a), Origin: string(d), Nearest: nearest(append(d.versions(a.Source.Chart), found), a.Version)}
}

func (d directory) manifest(_ context.Context, a addon.Addon) (file, error) {
	f, err := d.read(manifestName(a))
	if err != nil {
		return file{}, failed(a, manifestOf(a), d.at(manifestName(a)), err)
	}
	return f, nil
}

func (d directory) component(_ context.Context, a addon.Addon, p addon.Provider, name string) (file, error) {
	f, err := d.read(componentName(p, name))
	if err != nil {
		return file{}, failed(a, componentOf(p, name), d.at(componentName(p, name)), err)
	}
	return f, nil
}

func (d directory) at(name string) string { return filepath.Join(string(d), filepath.FromSlash(name)) }

// read returns a file below the directory.
func (d directory) read(name string) (file, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return file{}, errAbsent
	}
	in, err := os.Open(d.at(name))
	if errors.Is(err, fs.ErrNotExist) {
		return file{}, errAbsent
	}
	if err != nil {
		return file{}, err
	}
	defer in.Close()
	data, err := limited(in, largest)
	if err != nil {
		return file{}, err
	}
	return file{data, d.at(name), digest(data)}, nil
}

// unpacked is the chart in a directory of its own, as an archive, and its
// version; without one there is none.
func (d directory) unpacked(name string) (f file, version string, err error) {
	if _, err := os.Stat(filepath.Join(d.at(name), "Chart.yaml")); errors.Is(err, fs.ErrNotExist) {
		return file{}, "", nil
	}
	c, err := loader.LoadDir(d.at(name))
	if err != nil {
		return file{}, "", err
	}
	var files []*archive.BufferedFile
	for _, r := range c.Raw {
		files = append(files, &archive.BufferedFile{Name: r.Name, Data: r.Data})
	}
	data, err := packed(name, c.Raw)
	return file{data, d.at(name), digestOf(files)}, c.Metadata.Version, err
}

// versions of a chart that are there as archives.
func (d directory) versions(chart string) (out []string) {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name, isArchive := strings.CutSuffix(e.Name(), ".tgz")
		if version, ok := strings.CutPrefix(name, chart+"-"); ok && isArchive {
			out = append(out, version)
		}
	}
	return out
}

// packed is an archive as Helm makes it.
func packed(chart string, files []*common.File) ([]byte, error) {
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	tarred := tar.NewWriter(zipped)
	for _, f := range files {
		head := &tar.Header{Typeflag: tar.TypeReg, Name: path.Join(chart, f.Name), Mode: 0o644, Size: int64(len(f.Data))}
		if err := tarred.WriteHeader(head); err != nil {
			return nil, err
		}
		if _, err := tarred.Write(f.Data); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(tarred.Close(), zipped.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
