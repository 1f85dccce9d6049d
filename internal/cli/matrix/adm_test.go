// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/sim/audit"
)

// cluster is the name of the only one in each home.
const cluster = "faults"

// patience bounds one command: what takes longer has stopped on its way. One that
// does not end then hangs.
const (
	patience = "4m"
	hanging  = 6 * time.Minute
)

// cannot is the exit code of a command whose orders could not be carried out.
const cannot = 70

var executable = sync.OnceValues(func() (string, error) {
	return planetest.Build(context.Background(), "github.com/butlerdotdev/butler/internal/cli/matrix/faulty")
})

// adm is a butleradm that takes orders, with a home of its own.
type adm struct {
	*testing.T
	platform
	path, home, tmp string
	// breaks is the invariant that this butleradm is expected to break.
	breaks   audit.Invariant
	manifest string
	// canaries are secrets that must not be printed.
	canaries []string
	// said is everything that its commands have written.
	said *planetest.Output
}

// result is how a command ended.
type result struct {
	code     int
	killed   bool
	out, err string
}

// newAdm makes a home. Defects are for all processes that come from it, those of
// simulated pods too.
func newAdm(t *testing.T, p platform, defects string) *adm {
	t.Helper()
	path, err := executable()
	if err != nil {
		t.Fatal(err)
	}
	a := &adm{T: t, platform: p, path: path, home: t.TempDir(), tmp: t.TempDir(), said: &planetest.Output{}}
	a.manifest = a.file("cluster.yaml", p.manifest)
	if defects != "" {
		a.file("butler-faulty", defects)
	}
	t.Cleanup(a.stop)
	return a
}

// stop ends the simulator. Its machines go with it.
func (a *adm) stop() {
	if r := a.run("", "sim", "stop"); r.code != 0 {
		a.Errorf("sim stop: %s", r.err)
	}
}

// file writes a text to a private file of this home.
func (a *adm) file(name, text string) string {
	a.Helper()
	path := filepath.Join(a.tmp, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		a.Fatal(err)
	}
	return path
}

func (a *adm) state(part string) string { return filepath.Join(a.home, "rehearsals", cluster, part) }

// process is a command that runs.
type process struct {
	*exec.Cmd
	out, err planetest.Output
	ended    chan struct{}
}

// start starts a command with orders.
func (a *adm) start(orders string, args ...string) *process {
	a.Helper()
	p := &process{Cmd: exec.Command(a.path, args...), ended: make(chan struct{})}
	p.Env = append(os.Environ(),
		"BUTLER_HOME="+a.home, "TMPDIR="+a.tmp, "KUBECONFIG="+filepath.Join(a.home, "none"), "BUTLER_FAULTY="+orders)
	p.Stdout, p.Stderr = &p.out, &p.err
	p.WaitDelay = 10 * time.Second // for what others write into its output
	if err := p.Start(); err != nil {
		a.Fatal(err)
	}
	go func() {
		_ = p.Wait() // its state has the result
		close(p.ended)
	}()
	return p
}

// wait returns when a command has ended, which it has to as soon as something
// happened that must never happen.
func (a *adm) wait(p *process) result {
	a.Helper()
	tick, deadline := time.NewTicker(100*time.Millisecond), time.After(hanging)
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-p.ended:
			running = false
		case <-tick.C:
			if p.makes() && a.violated() {
				_ = p.Process.Kill()
			}
		case <-deadline:
			p.end()
			a.Fatalf("%s does not end:\n%s%s", strings.Join(p.Args[1:], " "), p.out.String(), p.err.String())
		}
	}
	if p.Args[1] != "kubeconfig" { // which is there to print a secret
		fmt.Fprint(a.said, p.out.String(), p.err.String())
	}
	status, _ := p.ProcessState.Sys().(syscall.WaitStatus)
	r := result{p.ProcessState.ExitCode(), status.Signaled() && status.Signal() == syscall.SIGKILL, p.out.String(), p.err.String()}
	if r.code == cannot {
		a.Errorf("the orders of %s were not carried out:\n%s%s", p.Args[1], r.out, r.err)
	}
	return r
}

// end has a process that hangs print where, and kills it.
func (p *process) end() {
	_ = p.Process.Signal(syscall.SIGQUIT)
	select {
	case <-p.ended:
	case <-time.After(10 * time.Second):
		_ = p.Process.Kill()
		<-p.ended
	}
}

// makes says whether a command is one that changes a platform.
func (p *process) makes() bool { return p.Args[1] == "bootstrap" || p.Args[1] == "destroy" }

// violated says whether a rule was broken: the expected one, if one is expected.
func (a *adm) violated() bool {
	found, err := sim.Violations(a.state("sim"))
	if err != nil {
		return false // a line that is being written
	}
	for _, v := range found {
		if a.breaks == "" || v.Invariant == a.breaks {
			return true
		}
	}
	return false
}

func (a *adm) run(orders string, args ...string) result {
	a.Helper()
	return a.wait(a.start(orders, args...))
}

func (a *adm) bootstrap() []string {
	return []string{"bootstrap", a.name, "-c", a.manifest, "--rehearse", "--timeout", patience}
}

func (a *adm) destroy() []string { return []string{"destroy", cluster, "--yes", "--timeout", patience} }

// lastWords is the error that a command ended with.
func (r result) lastWords() string {
	lines := strings.Split(strings.TrimSpace(r.err), "\n")
	return strings.TrimPrefix(lines[len(lines)-1], "butleradm: ")
}

// await polls for what has no event.
func await(ctx context.Context, done func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return errors.New("waited in vain")
		case <-tick.C:
		}
	}
	return nil
}
