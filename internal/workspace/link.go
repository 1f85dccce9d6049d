// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"errors"
	"os"
	"path/filepath"
)

// Link creates a symbolic link from the usual place to a workspace elsewhere, so that
// its name suffices later. A cluster of that name at the usual place, or one that the
// link points to and that lives, keeps its place.
func (w Workspace) Link() error {
	usual, err := w.usual()
	if err != nil || resolve(usual) == resolve(w.Dir) {
		return err
	}
	info, err := os.Lstat(usual)
	if err == nil {
		if _, lives := w.namesake(); lives || info.Mode()&os.ModeSymlink == 0 {
			return nil
		}
		err = os.Remove(usual)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(usual), 0o700); err != nil {
		return err
	}
	return os.Symlink(w.Dir, usual)
}

// unlink removes the link to the workspace, if there is one.
func (w Workspace) unlink() error {
	usual, err := w.usual()
	if err != nil || usual == w.Dir || resolve(usual) != resolve(w.Dir) {
		return err
	}
	return ignoreMissing(os.Remove(usual))
}

// unlinkDangling removes a link to a directory that was deleted.
func unlinkDangling(path string) error {
	if _, err := os.Readlink(path); err == nil && !exists(path) {
		return os.Remove(path)
	}
	return nil
}

// resolve follows the link that Link created.
func resolve(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}
