// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/internal/lock"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
)

const example = "../../configs/examples/harvester-single-node.yaml"

var executable = sync.OnceValues(func() (string, error) {
	return planetest.Build(context.Background(), "github.com/butlerdotdev/butler/cmd/butleradm")
})

// adm is butleradm with a home of its own.
type adm struct {
	*testing.T
	path, home string
}

// result is how a command ended.
type result struct {
	code     int
	out, err string
}

func newAdm(t *testing.T) adm {
	t.Helper()
	path, err := executable()
	if err != nil {
		t.Fatal(err)
	}
	a := adm{t, path, t.TempDir()}
	t.Cleanup(func() {
		if r := a.run("sim", "stop"); r.code != 0 {
			t.Errorf("sim stop: %s", r.err)
		}
		a.expectNoProcess()
	})
	return a
}

// output is what a running command has written so far.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

func (a adm) command(args ...string) (*exec.Cmd, *output, *output) {
	cmd := exec.Command(a.path, args...)
	cmd.Env = append(os.Environ(), "BUTLER_HOME="+a.home)
	var out, err output
	cmd.Stdout, cmd.Stderr = &out, &err
	return cmd, &out, &err
}

func (a adm) run(args ...string) result {
	a.Helper()
	cmd, out, err := a.command(args...)
	if e := cmd.Run(); e != nil && !errors.As(e, new(*exec.ExitError)) {
		a.Fatal(e)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), err.String()}
}

// ok is run for a command that must succeed.
func (a adm) ok(args ...string) result {
	a.Helper()
	r := a.run(args...)
	if r.code != 0 {
		a.Fatalf("butleradm %s: exit %d\n%s%s", strings.Join(args, " "), r.code, r.out, r.err)
	}
	return r
}

func (a adm) bootstrap(args ...string) []string {
	return append([]string{"bootstrap", "harvester", "-c", example, "--rehearse"}, args...)
}

// stopAfter runs a command and sends it a signal after some time.
func (a adm) stopAfter(d time.Duration, s os.Signal, args ...string) result {
	a.Helper()
	cmd, out, err := a.command(args...)
	if e := cmd.Start(); e != nil {
		a.Fatal(e)
	}
	timer := time.AfterFunc(d, func() { _ = cmd.Process.Signal(s) })
	defer timer.Stop()
	_ = cmd.Wait()
	return result{cmd.ProcessState.ExitCode(), out.String(), err.String()}
}

// expectNoProcess takes every lock below the home: each process of ours holds
// one as long as it lives.
func (a adm) expectNoProcess() {
	a.Helper()
	// The test's own context has ended by the time that it is cleaned up.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := filepath.WalkDir(a.home, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != "lock" {
			return err
		}
		l, err := lock.Acquire(ctx, filepath.Dir(path), "test")
		if err != nil {
			a.Errorf("a process is left: %v", err)
			return nil
		}
		return l.Release()
	})
	if err != nil {
		a.Error(err)
	}
}

func TestWrongUseIsRefusedAndLeavesNothing(t *testing.T) {
	a := newAdm(t)
	data, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name, content string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ha := file("ha.yaml", strings.Replace(string(data), "topology: single-node", "topology: ha", 1))
	typo := file("typo.yaml", strings.Replace(string(data), "memoryMB", "memoryMb", 1))
	for reason, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no manifest":       {[]string{"bootstrap", "harvester", "--rehearse"}, 2, "name it with -c FILE"},
		"missing manifest":  {[]string{"bootstrap", "harvester", "--rehearse", "-c", "/no/such.yaml"}, 2, "no such file"},
		"misspelled field":  {[]string{"bootstrap", "harvester", "--rehearse", "-c", typo}, 2, `unknown field "spec.cluster.controlPlane.memoryMb"`},
		"topology":          {[]string{"bootstrap", "harvester", "--rehearse", "-c", ha}, 2, "only spec.cluster.topology single-node"},
		"real cluster":      {[]string{"bootstrap", "harvester", "-c", example}, 2, "add --rehearse"},
		"unknown provider":  {[]string{"bootstrap", "vax", "-c", example}, 2, "bootstrap takes a provider (harvester)"},
		"unknown output":    {a.bootstrap("--output", "xml"), 2, "--output is plain or json"},
		"unknown flag":      {[]string{"status", "--fast"}, 2, "unknown flag: --fast"},
		"unknown command":   {[]string{"frobnicate"}, 2, `unknown command "frobnicate"`},
		"unknown cluster":   {[]string{"status", "nobody"}, 1, `there is no cluster "nobody"`},
		"no cluster":        {[]string{"destroy"}, 2, "takes the name of one cluster"},
		"path as a cluster": {[]string{"destroy", "../x", "--yes"}, 2, "is not the name of a cluster"},
		"plane without dir": {[]string{"plane"}, 2, "--state-dir is missing"},
		"sim without dir":   {[]string{"sim", "harvester"}, 2, "--state-dir is missing"},
	} {
		t.Run(reason, func(t *testing.T) {
			r := a.run(c.args...)
			if r.code != c.code || !strings.Contains(r.err, c.want) {
				t.Errorf("exit %d, want %d with %q:\n%s", r.code, c.code, c.want, r.err)
			}
		})
	}
	if entries, err := os.ReadDir(a.home); err != nil || len(entries) != 0 {
		t.Errorf("state was left: %v, %v", entries, err)
	}
}

func TestPlaneRunsUntilInterruptedAndIsRefusedTwice(t *testing.T) {
	a := newAdm(t)
	dir := filepath.Join(a.home, "plane")
	cmd, out, _ := a.command("plane", "--state-dir", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return strings.Contains(out.String(), "ready in") })
	if want := "kubeconfig: " + dir + "/kubeconfig\n"; !strings.HasPrefix(out.String(), want) {
		t.Errorf("printed %q, want %q first", out.String(), want)
	}
	second := a.run("plane", "--state-dir", dir)
	if want := fmt.Sprintf("butleradm plane (pid %d", cmd.Process.Pid); second.code != 1 || !strings.Contains(second.err, want) {
		t.Errorf("second start: exit %d, %s", second.code, second.err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after Ctrl-C: %v", err)
	}
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("timed out")
		}
	}
}
