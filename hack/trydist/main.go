// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command trydist installs a release from its directory as a new user would: it checks the
// checksum, unpacks the archive for this machine into an empty home, and runs version and the
// demo from there, with nothing in PATH.
package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

func main() {
	dist := flag.String("dist", "dist", "`DIR` of the release")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := try(ctx, *dist); err != nil {
		fmt.Fprintln(os.Stderr, "trydist:", err)
		os.Exit(1)
	}
}

func try(ctx context.Context, dist string) (err error) {
	found, err := filepath.Glob(filepath.Join(dist, fmt.Sprintf("butleradm-*-%s-%s.tar.gz", runtime.GOOS, runtime.GOARCH)))
	if err != nil || len(found) != 1 {
		return fmt.Errorf("%s has no archive for %s/%s: make release-dry-run writes it", dist, runtime.GOOS, runtime.GOARCH)
	}
	if err := checkSum(dist, found[0]); err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "butler-new-user-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	if err := unpack(found[0], home); err != nil {
		return err
	}
	return demo(ctx, home)
}

func checkSum(dist, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	listed, err := os.ReadFile(filepath.Join(dist, "checksums.txt"))
	if err != nil {
		return err
	}
	if line := hex.EncodeToString(sum[:]) + "  " + filepath.Base(path); !strings.Contains(string(listed), line+"\n") {
		return fmt.Errorf("checksums.txt has another checksum for %s", filepath.Base(path))
	}
	return nil
}

func unpack(path, to string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	plain, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // only a directory was opened
	for r := tar.NewReader(plain); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = place(root, header, r)
		}
		if err != nil {
			return err
		}
	}
}

func place(root *os.Root, header *tar.Header, r io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(header.Name), 0o755); err != nil {
		return err
	}
	out, err := root.OpenFile(header.Name, os.O_CREATE|os.O_WRONLY, header.FileInfo().Mode())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, r)
	return errors.Join(err, out.Close())
}

// demo runs the commands of the README.
func demo(ctx context.Context, home string) error {
	const cluster = "butler-mgmt"
	for _, arguments := range [][]string{
		{"version"},
		{"bootstrap", "harvester", "-c", "examples/harvester-ha.yaml", "--rehearse"},
		{"status", cluster},
		{"destroy", cluster, "--yes"},
		{"sim", "stop", cluster},
	} {
		fmt.Printf("\n$ butleradm %s\n", strings.Join(arguments, " "))
		cmd := exec.CommandContext(ctx, filepath.Join(home, "butleradm"), arguments...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = home, os.Stdout, os.Stderr
		cmd.Env = []string{"HOME=" + home, "PATH=" + filepath.Join(home, "empty")}
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("butleradm %s: %w", arguments[0], err)
		}
	}
	return nil
}
