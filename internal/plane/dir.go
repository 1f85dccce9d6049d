// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"k8s.io/client-go/tools/clientcmd"
)

// minFree is what a new plane needs on disk: etcd allocates its log ahead.
const minFree = 256 << 20

// prepareDir creates the directory of a plane, readable by its owner alone. One that
// was created wider, by hand or by a copy, is narrowed: etcd's files hold Secrets.
func prepareDir(dir string) error {
	for _, d := range []string{dir, filepath.Join(dir, "pki"), filepath.Join(dir, "run"), filepath.Join(dir, "etcd"), filepath.Join(dir, "logs")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return fmt.Errorf("create the plane's directory: %w; choose a directory that you may write to with --state-dir", err)
		}
		if err := os.Chmod(d, 0o700); err != nil {
			return fmt.Errorf("restrict the plane's directory to its owner: %w; choose one of your own with --state-dir", err)
		}
	}
	if err := syscall.Access(dir, 2); err != nil {
		return fmt.Errorf("write to %s: %w; choose a directory that you may write to with --state-dir", dir, err)
	}
	if _, err := os.Stat(dataDir(dir)); err == nil {
		return nil
	}
	return checkSpace(dir)
}

// dataDir is where etcd keeps everything that matters.
func dataDir(dir string) string { return filepath.Join(dir, "etcd", "data") }

func checkSpace(dir string) error {
	free, err := freeSpace(dir)
	if err != nil {
		return err
	}
	if free < minFree {
		return fmt.Errorf("%s has %d MiB left on its disk, a plane needs %d MiB; free some space or choose another --state-dir", dir, free>>20, minFree>>20)
	}
	return nil
}

func freeSpace(dir string) (uint64, error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return fs.Bavail * uint64(fs.Bsize), nil
}

// explain adds what a component itself cannot say when its log has no room.
func (p *Plane) explain(err error) error {
	const full = 1 << 20
	if free, e := freeSpace(p.options.Dir); e == nil && free < full {
		return fmt.Errorf("the disk of %s is full; free some space and start again: %w", p.options.Dir, err)
	}
	return err
}

// listen opens the API server's port: the wanted one, else the last one so
// that old kubeconfigs stay valid, else any.
func (p *Plane) listen() error {
	if p.options.Port != 0 {
		return p.listenOn(p.options.Port)
	}
	err := p.listenOn(lastPort(p.options.Dir))
	if errors.Is(err, syscall.EADDRINUSE) {
		err = p.listenOn(0)
	}
	return err
}

func (p *Plane) listenOn(port int) error {
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("port %d of 127.0.0.1 is taken by another process; free it or choose another port: %w", port, err)
	}
	p.listener = l
	return err
}

// lastPort is the port that the directory's kubeconfig names, or 0.
func lastPort(dir string) int {
	c, err := clientcmd.LoadFromFile(kubeconfigPath(dir))
	if err != nil {
		return 0
	}
	for _, cluster := range c.Clusters {
		if u, err := url.Parse(cluster.Server); err == nil {
			port, _ := strconv.Atoi(u.Port())
			return port
		}
	}
	return 0
}

func kubeconfigPath(dir string) string { return filepath.Join(dir, "kubeconfig") }

// WriteFile replaces a file at once, readable by its owner only: a reader
// gets the old content or the new one.
func WriteFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
