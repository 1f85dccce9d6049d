// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// etcd that is killed in its first start, after it has created its log and before it has written
// its membership to it, never elects itself again: it waits for ever. So a first start is marked
// until etcd has reported that it serves. Until then nothing was written to it, and the next
// start begins with an empty store.

func initialMark(dir string) string { return filepath.Join(dir, "etcd", "initial") }

// beginStore marks the first start of a store, and removes what one that was interrupted has left.
func beginStore(dir string) error {
	if err := removeSockets(dir); err != nil {
		return err
	}
	_, err := os.Stat(initialMark(dir))
	if err == nil {
		return removeStore(dir)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(dataDir(dir)); err == nil {
		return nil // it serves, or did
	}
	return WriteFile(initialMark(dir), nil)
}

// removeSockets removes those of stores that were killed.
func removeSockets(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, "etcd", "client-*"))
	for _, path := range left {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

func removeStore(dir string) error {
	if err := os.RemoveAll(dataDir(dir)); err != nil {
		return fmt.Errorf("remove the store of a first start that was interrupted: %w", err)
	}
	return nil
}

// storeBegun removes the mark of a first start, for good: a mark that comes back after a power
// failure would have the store removed.
func storeBegun(dir string) error {
	if err := os.Remove(initialMark(dir)); errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("record that the store has begun: %w", err)
	}
	d, err := os.Open(filepath.Dir(initialMark(dir)))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
