// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// engine plays KIND's library: the cluster is one that the test runs. Its directory has
// the file kubeconfig, and a directory for each cluster that was created, with the
// images that were loaded.
type engine struct{ dir string }

func (e engine) Exists(name string) (bool, error) { return exists(filepath.Join(e.dir, name)), nil }

func (e engine) Create(name string) error { return os.Mkdir(filepath.Join(e.dir, name), 0o700) }

func (e engine) Kubeconfig(string) ([]byte, error) {
	return os.ReadFile(filepath.Join(e.dir, "kubeconfig"))
}

func (e engine) Load(name string, image io.ReadSeeker) error {
	_, err := image.Seek(0, io.SeekStart)
	if err != nil {
		return err
	}
	to, err := os.CreateTemp(filepath.Join(e.dir, name), "*.tar")
	if err != nil {
		return err
	}
	_, err = io.Copy(to, image)
	return errors.Join(err, to.Close())
}

func (e engine) Delete(name string) error { return os.RemoveAll(filepath.Join(e.dir, name)) }

// value returns the value of the first order of a kind.
func (o orders) value(what string) string {
	for _, one := range o {
		if one.what == what {
			return strings.TrimSpace(one.value)
		}
	}
	return ""
}
