// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package planetest gives tests a control plane: one per package, as processes
// of an executable that is built once, so that no test binary links Kubernetes.
// It serves the kinds of this project, unless the options name others.
package planetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/config/crd"
	"github.com/butlerdotdev/butler/internal/plane"
)

const (
	module       = "github.com/butlerdotdev/butler"
	startTimeout = 2 * time.Minute
)

// Run starts a plane, hands it to use, runs the tests of the package and
// returns the exit code for os.Exit. It is the body of a TestMain.
func Run(m *testing.M, o plane.Options, use func(*plane.Plane)) int {
	code, err := run(m, o, use)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func run(m *testing.M, o plane.Options, use func(*plane.Plane)) (code int, err error) {
	dir, err := os.MkdirTemp("", "plane")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if o, err = complete(o); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	o.Dir = dir
	p, err := plane.Start(ctx, o)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	use(p)
	return m.Run(), nil
}

// Start runs a plane of the test's own until the test ends.
func Start(tb testing.TB, o plane.Options) *plane.Plane {
	tb.Helper()
	if o.Dir == "" {
		o.Dir = tb.TempDir()
	}
	o, err := complete(o)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	p, err := plane.Start(ctx, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := p.Stop(); err != nil {
			tb.Error(err)
		}
	})
	return p
}

func complete(o plane.Options) (_ plane.Options, err error) {
	if o.Definitions == nil {
		if o.Definitions, err = crd.All(); err != nil {
			return o, err
		}
	}
	o.Executable, err = executable()
	return o, err
}

// Executable is the path of an executable with the components of a plane.
func Executable(tb testing.TB) string {
	tb.Helper()
	path, err := executable()
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

var executable = sync.OnceValues(func() (string, error) {
	return Build(context.Background(), module+"/internal/plane/planetest/executable")
})

// Build builds a command of this module as `make build` does, and returns its
// path. A second call, also by another process, finds the work done.
func Build(ctx context.Context, pkg string) (string, error) {
	flags, err := ldflags(ctx)
	if err != nil {
		return "", err
	}
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cacheDir(), fmt.Sprintf("%x", sha256.Sum256([]byte(root+flags+runtime.Version())))[:12])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	unlock, err := lockDir(dir)
	if err != nil {
		return "", err
	}
	defer unlock()
	e := built{path: filepath.Join(dir, filepath.Base(pkg)), root: root}
	if e.fresh() {
		return e.path, nil
	}
	return e.path, e.build(ctx, pkg, flags)
}

// moduleRoot is the directory of go.mod, above the one that a test runs in.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("there is no go.mod above the directory of the test")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// ldflags are those of the Makefile, or at least what Kubernetes cannot do
// without: a version.
func ldflags(ctx context.Context) (string, error) {
	if flags := os.Getenv("BUTLER_LDFLAGS"); flags != "" {
		return flags, nil
	}
	version, err := goOutput(ctx, "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
	if err != nil {
		return "", err
	}
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	const p = "-X k8s.io/component-base/version."
	return fmt.Sprintf("-s -w %sgitVersion=%s %sgitMajor=%s %sgitMinor=%s", p, version, p, parts[0], p, parts[1]), nil
}

func goOutput(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", fmt.Errorf("go %s: %w: %s", args[0], err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "butler-test")
}

func lockDir(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil
}
