// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command rootfs writes the files of an image into a directory, for the Dockerfile.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/butlerdotdev/butler/internal/image"
)

func main() {
	executable := flag.String("binary", "", "the executable")
	to := flag.String("to", "", "`DIR` that the files are written to")
	flag.Parse()
	if err := write(*executable, *to); err != nil {
		fmt.Fprintln(os.Stderr, "rootfs:", err)
		os.Exit(1)
	}
}

func write(executable, to string) error {
	files, err := image.Files(executable)
	if err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(to, filepath.FromSlash(f.Name))
		if f.IsDir() {
			err = os.MkdirAll(path, 0o755)
		} else {
			err = os.WriteFile(path, f.Content, 0o600)
		}
		if err == nil {
			err = os.Chmod(path, f.FileMode())
		}
		if err != nil {
			return err
		}
	}
	return nil
}
