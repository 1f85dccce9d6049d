// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/ignore"

	"github.com/butlerdotdev/butler/internal/addon"
)

// carriedChart is a chart of this project. It has the program's own version,
// whatever the files say.
func carriedChart(carried fs.FS, a addon.Addon) (Content, error) {
	if carried == nil {
		return Content{}, fmt.Errorf("%s is carried in the program, and this program carries no charts", chartOf(a))
	}
	files, err := filesOf(carried, a.Source.Chart)
	if errors.Is(err, fs.ErrNotExist) {
		return Content{}, fmt.Errorf("%s is not among the charts that this program carries", chartOf(a))
	}
	if err != nil {
		return Content{}, fmt.Errorf("read %s, which this program carries: %w", chartOf(a), err)
	}
	sum := digestOf(files)
	c, err := loader.LoadFiles(files)
	if err != nil {
		return Content{}, fmt.Errorf("load %s, which this program carries: %w", chartOf(a), err)
	}
	placeholder := c.Metadata.AppVersion
	c.Metadata.Version, c.Metadata.AppVersion = a.Version, a.Version
	if strings.HasPrefix(placeholder, "v") {
		c.Metadata.AppVersion = "v" + strings.TrimPrefix(a.Version, "v")
	}
	if err := c.Validate(); err != nil {
		return Content{}, fmt.Errorf("load %s, which this program carries: %w", chartOf(a), err)
	}
	without(c, a.Source.WithoutCRDs)
	return Content{Chart: c, Origin: "this program", Digest: sum}, nil
}

// filesOf are the files of a chart, in the order of their names, without those
// that its .helmignore names.
func filesOf(root fs.FS, dir string) (files []*archive.BufferedFile, err error) {
	ignored, err := rulesOf(root, dir)
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(root, dir, func(name string, d fs.DirEntry, err error) error {
		below, ok := strings.CutPrefix(name, dir+"/")
		if err != nil || !ok {
			return err
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case ignored.Ignore(below, info) && d.IsDir():
			return fs.SkipDir
		case ignored.Ignore(below, info) || d.IsDir():
			return nil
		}
		data, err := fs.ReadFile(root, name)
		files = append(files, &archive.BufferedFile{Name: below, Data: data})
		return err
	})
	return files, err
}

func rulesOf(root fs.FS, dir string) (*ignore.Rules, error) {
	data, err := fs.ReadFile(root, path.Join(dir, ignore.HelmIgnore))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	rules, err := ignore.Parse(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	rules.AddDefaults()
	return rules, nil
}

// digestOf is the checksum of files with their names.
func digestOf(files []*archive.BufferedFile) string {
	sum := sha256.New()
	for _, f := range files {
		fmt.Fprintf(sum, "%s\x00%d\x00", f.Name, len(f.Data))
		sum.Write(f.Data)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}
