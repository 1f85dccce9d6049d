// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package workstation

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/butlerdotdev/butler/provider"
)

const (
	gibibyte = 1 << 30
	// leastDisk is what the store, the logs and the certificates of a plane take.
	leastDisk = gibibyte / 2
	// enoughDisk is room for some clusters and their logs.
	enoughDisk = 2 * gibibyte
)

// stateDir looks whether the state of clusters can be written.
func stateDir(_ context.Context, o Options) provider.Finding {
	const name = "state directory"
	at, info, err := existing(o.Home)
	switch {
	case err != nil:
		return refused(name, fmt.Sprintf("%s: %v", o.Home, err), "set BUTLER_HOME to a directory that you may write to")
	case !info.IsDir():
		return refused(name, at+" is not a directory", "move it elsewhere, or set BUTLER_HOME")
	case unix.Access(at, unix.W_OK|unix.X_OK) != nil:
		return refused(name, at+" cannot be written", "set BUTLER_HOME to a directory that you may write to")
	case at != o.Home:
		return passed(name, o.Home+" will be created")
	}
	return passed(name, o.Home)
}

// existing returns the directory, or else the nearest one above it that exists.
func existing(dir string) (string, os.FileInfo, error) {
	for {
		info, err := os.Stat(dir)
		up := filepath.Dir(dir)
		if !os.IsNotExist(err) || up == dir {
			return dir, info, err
		}
		dir = up
	}
}

func disk(_ context.Context, o Options) provider.Finding {
	var fs unix.Statfs_t
	at, _, err := existing(o.Home)
	if err == nil {
		err = unix.Statfs(at, &fs)
	}
	if err != nil {
		return unknown("disk space", fmt.Sprintf("%s: %v", at, err), "make sure that 2 GiB are free")
	}
	return diskFinding(fs.Bavail*uint64(fs.Bsize), at)
}

func diskFinding(free uint64, at string) provider.Finding {
	evidence := fmt.Sprintf("%s are free at %s", gibibytes(free), at)
	switch {
	case free < leastDisk:
		return refused("disk space", evidence+"; a local plane needs 0.5 GiB", "free some space, or set BUTLER_HOME to another file system")
	case free < enoughDisk:
		return unknown("disk space", evidence, "free some space, so that 2 GiB are free")
	}
	return passed("disk space", evidence)
}

func gibibytes(n uint64) string { return fmt.Sprintf("%.1f GiB", float64(n)/gibibyte) }
