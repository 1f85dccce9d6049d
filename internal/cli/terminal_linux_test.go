// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/history"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/pty"
	"github.com/butlerdotdev/butler/internal/ui"
)

// terminal is one that a command runs on.
type terminal struct {
	*os.File
	shown planetest.Output
	ended chan struct{}
}

// onTerminal starts a command whose input and output are a terminal of 80
// columns and 24 lines.
func (a adm) onTerminal(env []string, args ...string) (*exec.Cmd, *terminal) {
	a.Helper()
	cmd, _, _ := a.command(args...)
	cmd.Env = append(cmd.Env, append([]string{"TERM=xterm"}, env...)...)
	master, err := pty.Start(cmd, pty.Size{Rows: 24, Columns: 80})
	if err != nil {
		a.Fatal(err)
	}
	a.Cleanup(func() { _ = master.Close() })
	t := &terminal{File: master, ended: make(chan struct{})}
	go func() {
		defer close(t.ended)
		_, _ = t.WriteTo(&t.shown)
	}()
	return cmd, t
}

// until waits until the terminal has shown a text.
func (t *terminal) until(tb *testing.T, text string) {
	tb.Helper()
	waitFor(tb, func() bool { return strings.Contains(ansi.Strip(t.shown.String()), text) })
}

// resize changes the size of the terminal, and waits until a text is drawn on it.
func (t *terminal) resize(tb *testing.T, s pty.Size, text string) (drawn string) {
	tb.Helper()
	before := len(t.shown.String())
	if err := pty.Resize(t.File, s); err != nil {
		tb.Fatal(err)
	}
	waitFor(tb, func() bool {
		drawn = t.shown.String()[before:]
		return strings.Contains(drawn, text)
	})
	return drawn
}

// end waits for the command and returns its exit code and all that was shown.
func (t *terminal) end(cmd *exec.Cmd) (code int, shown string) {
	_ = cmd.Wait()
	select {
	case <-t.ended:
	case <-time.After(time.Minute):
		return -1, "a process keeps the terminal:\n" + t.shown.String()
	}
	return cmd.ProcessState.ExitCode(), t.shown.String()
}

func TestTerminalShowsTheBootstrapInPlaceAndCtrlCLeavesIt(t *testing.T) {
	a := newAdm(t)
	a.recordRun(history.KindOf(v1alpha1.ProviderHarvester, v1alpha1.TopologySingleNode, true, "realistic"))
	cmd, term := a.onTerminal([]string{"NO_COLOR=1"}, a.bootstrap("--profile", "realistic")...)
	term.until(t, "PHASE") // of machines; the plan names them, too
	for line := range strings.SplitSeq(term.resize(t, pty.Size{Rows: 10, Columns: 36}, "…"), "\r\n") {
		if w := ansi.StringWidth(line); w > 36 && strings.HasSuffix(line, "…") {
			t.Errorf("%d of 36 columns: %q", w, line)
		}
	}
	term.resize(t, pty.Size{Rows: 24, Columns: 80}, "dev-cluster on harvester-dev (rehearsal)")
	if out := oneLine(a.ok("status", "dev-cluster").out); !strings.Contains(out, "remaining: about ") || !strings.Contains(out, "as in 1 recorded run(s): ProvisioningMachines ") {
		t.Errorf("no estimate:\n%s", out)
	}
	if _, err := term.Write([]byte{3}); err != nil { // Ctrl-C
		t.Fatal(err)
	}
	code, shown := term.end(cmd)
	if code != 130 {
		t.Errorf("exit %d", code)
	}
	if !strings.Contains(shown, "A\x1b[K") {
		t.Error("nothing was drawn in place")
	}
	for line := range strings.SplitSeq(shown, "\r\n") {
		// What was erased does not count.
		line = line[max(strings.LastIndex(line, "\x1b[J"), strings.LastIndex(line, "\x1b[K"), 0):]
		// Paths and commands are there to be copied.
		if w := ansi.StringWidth(line); w > ui.Columns && !strings.Contains(line, a.home) && !strings.Contains(line, "continue: ") {
			t.Errorf("%d columns: %q", w, line)
		}
	}
	if strings.Contains(shown, "\x1b[3") || strings.Contains(shown, "\x1b[0m") {
		t.Error("there are colours despite NO_COLOR")
	}
	last := shown[strings.LastIndex(shown, "A\x1b[K"):]
	for _, want := range []string{
		" ■ ProvisioningMachines", "Everything is left in place.", "continue:   butleradm bootstrap harvester -c " + example + " --profile realistic --rehearse",
		"butleradm: interrupted",
	} {
		if !strings.Contains(last, want) {
			t.Errorf("%q is not in the last frame:\n%s", want, last)
		}
	}
	if out := a.ok("status", "dev-cluster").out; strings.Contains(out, "remaining:") {
		t.Errorf("an estimate without a bootstrap that runs:\n%s", out)
	}
}

// recordRun records a run, for estimates.
func (a adm) recordRun(k history.Kind) {
	a.Helper()
	err := history.Append(a.home, history.Run{Kind: k, Phases: []history.Phase{{Name: v1alpha1.BootstrapProvisioningMachines, Seconds: 600}, {Name: v1alpha1.BootstrapInstallingAddons, Seconds: 60}}})
	if err != nil {
		a.Fatal(err)
	}
}

func TestTerminalIsAskedBeforeRealMachinesAreMade(t *testing.T) {
	a := newAdm(t)
	credentials := a.kubeconfig(a.startPlatform(), func(*clientcmdapi.Config) {})
	manifest := file(t, "real.yaml", edited(t, example)+addonsNone)
	args := []string{"bootstrap", "harvester", "-c", manifest, "--credentials", credentials}
	answer := func(text string) (*exec.Cmd, *terminal) {
		cmd, term := a.onTerminal(nil, args...)
		term.until(t, "Create 1 machine(s) on harvester-dev (harvester)? [y/N]")
		if _, err := term.WriteString(text); err != nil {
			t.Fatal(err)
		}
		return cmd, term
	}
	cmd, term := answer("n\n")
	if code, shown := term.end(cmd); code != 2 || !strings.Contains(shown, "nothing was created; answer y, or pass --yes") {
		t.Errorf("exit %d\n%s", code, shown)
	}
	if left, err := filepath.Glob(filepath.Join(a.home, "clusters", "*")); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	cmd, term = answer("Yes\n")
	term.until(t, "PHASE")
	if _, err := term.Write([]byte{3}); err != nil {
		t.Fatal(err)
	}
	if code, shown := term.end(cmd); code != 130 || !strings.Contains(shown, "\x1b[32m✓\x1b[0m Pending") {
		t.Errorf("exit %d, or no colours:\n%s", code, shown)
	}
}
