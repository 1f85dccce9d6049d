// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/butlerdotdev/butler/charts"
	"github.com/butlerdotdev/butler/internal/image"
)

// writeCharts packs the charts of the controllers, as Helm does, with the version of the release
// and the digests of its images.
func (r release) writeCharts() error {
	found, err := fs.Glob(charts.FS, "*/Chart.yaml")
	if err != nil {
		return err
	}
	for _, file := range found {
		name := path.Dir(file)
		files, err := r.chartFiles(name)
		if err != nil {
			return err
		}
		data, err := packed(files)
		if err != nil {
			return err
		}
		if err := r.write("charts/"+name+"-"+r.chartVersion()+".tgz", data); err != nil {
			return err
		}
	}
	return nil
}

// chartVersion is that of the release as Helm wants it, without a v.
func (r release) chartVersion() string { return strings.TrimPrefix(r.Version, "v") }

func (r release) chartFiles(name string) (files []image.File, err error) {
	err = fs.WalkDir(charts.FS, name, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(charts.FS, file)
		if err != nil {
			return err
		}
		switch file {
		case name + "/Chart.yaml":
			data, err = r.versioned(data)
		case name + "/values.yaml":
			data = r.pinned(name, data)
		}
		files = append(files, image.File{Name: file, Mode: 0o644, Content: data})
		return err
	})
	return files, err
}

var (
	versionLine    = regexp.MustCompile(`(?m)^version: .*$`)
	appVersionLine = regexp.MustCompile(`(?m)^appVersion: .*$`)
)

func (r release) versioned(chart []byte) ([]byte, error) {
	if !versionLine.Match(chart) {
		return nil, errors.New("a chart has no version")
	}
	chart = versionLine.ReplaceAll(chart, []byte("version: "+r.chartVersion()))
	return appVersionLine.ReplaceAll(chart, []byte("appVersion: "+r.Version)), nil
}

// pinned sets the digest of the image.
func (r release) pinned(name string, values []byte) []byte {
	digest := r.digests[name]
	if digest == "" {
		return values
	}
	return bytes.Replace(values, []byte(`  digest: ""`), []byte("  digest: "+digest), 1)
}
