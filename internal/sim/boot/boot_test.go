// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package boot_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/butlerdotdev/butler/internal/sim/boot"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// victimDir makes this test binary a process that runs one machine until it is
// killed.
const victimDir = "BOOT_TEST_VICTIM_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimDir); dir != "" {
		fmt.Fprintln(os.Stderr, boot.Command{Line: os.Args[1], Grace: time.Second}.Boot(context.Background(), machineIn(dir)))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func machineIn(dir string) datacenter.Machine {
	return datacenter.Machine{
		Spec: datacenter.Spec{
			ID: "0b5a", Name: "mgmt-cp-0", MAC: "52:54:00:00:00:01", CPU: 4, MemoryMB: 8192,
			UserData: []byte("#user\n"), NetworkData: []byte("#network\n"),
		},
		Address: netip.MustParsePrefix("10.5.0.12/24"), Gateway: netip.MustParseAddr("10.5.0.1"), StateDir: dir,
	}
}

// power is a machine that a test switched on.
type power struct {
	machine datacenter.Machine
	off     context.CancelFunc
	ended   chan error
}

func powerOn(t *testing.T, dir, line string) power {
	t.Helper()
	ctx, off := context.WithCancel(t.Context())
	p := power{machineIn(dir), off, make(chan error, 1)}
	go func() { p.ended <- boot.Command{Line: line, Grace: 2 * time.Second}.Boot(ctx, p.machine) }()
	t.Cleanup(off)
	return p
}

func (p power) end(t *testing.T) error {
	t.Helper()
	select {
	case err := <-p.ended:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("the machine does not end")
		return nil
	}
}

// script is a command that runs lines of shell. Its path has nothing to quote.
func script(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "boot")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+strings.Join(lines, "\n")+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// shown waits until the console has a line with this prefix, and returns the rest.
func shown(t *testing.T, dir, prefix string) string {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		data, err := os.ReadFile(filepath.Join(dir, "console.log"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if rest, ok := strings.CutPrefix(line, prefix); ok && strings.HasSuffix(line, "\n") {
				return strings.TrimSpace(rest)
			}
		}
	}
	t.Fatalf("the console does not show %q", prefix)
	return ""
}

// alive is not true of a process that has ended and whose parent has not collected it yet.
func alive(pid string) bool {
	state, err := exec.Command("ps", "-o", "stat=", "-p", pid).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(state)), "Z")
}

// gone waits for the end of a process that is no child of the test any more.
func gone(t *testing.T, pid string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); alive(pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("process %s is alive", pid)
		}
	}
}

func TestCommandFindsEverythingAboutItsMachine(t *testing.T) {
	dir := t.TempDir()
	p := powerOn(t, dir, script(t, `env | grep ^MACHINE_ | sort`, `cat "$MACHINE_USER_DATA" "$MACHINE_NETWORK_DATA"`, `[ -d "$MACHINE_STATE_DIR" ] && echo disk`))
	if err := p.end(t); err == nil {
		t.Error("the end of the command is no death")
	}
	want := strings.Join([]string{
		"MACHINE_ADDRESS=10.5.0.12/24", "MACHINE_CPU=4", "MACHINE_GATEWAY=10.5.0.1", "MACHINE_MAC=52:54:00:00:00:01",
		"MACHINE_MEMORY_MB=8192", "MACHINE_NAME=mgmt-cp-0", "MACHINE_NETWORK_DATA=" + dir + "/network-data",
		"MACHINE_STATE_DIR=" + dir + "/disk", "MACHINE_USER_DATA=" + dir + "/user-data", "MACHINE_UUID=0b5a",
		"#user", "#network", "disk", "",
	}, "\n")
	got, err := os.ReadFile(filepath.Join(dir, "console.log"))
	if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, name := range []string{"console.log", "user-data", "network-data"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

func TestPowerOffIsSIGTERMToTheCommandItself(t *testing.T) {
	dir := t.TempDir()
	// An argument for the shell: it must not stay between the command and its signals.
	p := powerOn(t, dir, script(t, `trap 'echo asked to end; exit 0' TERM`, `echo on "$1" $$`, `while :; do sleep 0.01; done`)+` "$MACHINE_NAME"`)
	pid := strings.Fields(shown(t, dir, "on mgmt-cp-0"))[0]
	p.off()
	if err := p.end(t); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	shown(t, dir, "asked to end")
	if alive(pid) {
		t.Error("it runs on")
	}
}

func TestStubbornCommandIsKilledWithItsChildren(t *testing.T) {
	dir := t.TempDir()
	p := powerOn(t, dir, script(t, `trap '' TERM`, `sleep 1000 &`, `echo child $!`, `echo on $$`, `wait`))
	child, pid := shown(t, dir, "child "), shown(t, dir, "on ")
	p.off()
	if err := p.end(t); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	gone(t, pid)
	gone(t, child)
}

func TestDeathIsExplainedAndLeavesNoChild(t *testing.T) {
	dir := t.TempDir()
	p := powerOn(t, dir, script(t, `sleep 1000 &`, `echo child $!`, `exit 7`))
	err := p.end(t)
	for _, part := range []string{"mgmt-cp-0", "exit status 7", filepath.Join(dir, "console.log")} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %q", err, part)
		}
	}
	gone(t, shown(t, dir, "child "))
}

func TestUnknownCommandIsADeathThatTheConsoleExplains(t *testing.T) {
	dir := t.TempDir()
	if err := powerOn(t, dir, "/no/such/hypervisor").end(t); err == nil {
		t.Error("it booted")
	}
	data, err := os.ReadFile(filepath.Join(dir, "console.log"))
	if err != nil || !strings.Contains(string(data), "/no/such/hypervisor") {
		t.Errorf("console %q, %v", data, err)
	}
}

func TestDiskAndConsoleStayOverPowerOff(t *testing.T) {
	dir := t.TempDir()
	line := script(t, `echo boot >>"$MACHINE_STATE_DIR/boots"`, `echo boots $(wc -l <"$MACHINE_STATE_DIR/boots")`, `exec sleep 1000`)
	for _, boots := range []string{"1", "2"} {
		p := powerOn(t, dir, line)
		shown(t, dir, "boots "+boots)
		p.off()
		_ = p.end(t)
	}
	shown(t, dir, "boots 1")
}

func TestNothingSurvivesAKilledSimulator(t *testing.T) {
	tests := map[string]struct {
		lines []string
		says  string
	}{
		"a command that ends when asked": {[]string{`trap 'echo asked to end; exit 0' TERM`, `echo on $$`, `while :; do sleep 0.01; done`}, "asked to end"},
		"one that does not":              {[]string{`trap '' TERM`, `sleep 1000 &`, `echo child $!`, `echo on $$`, `wait`}, "child"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			simulator := exec.Command(os.Args[0], script(t, tt.lines...))
			simulator.Env = append(os.Environ(), victimDir+"="+dir)
			if err := simulator.Start(); err != nil {
				t.Fatal(err)
			}
			pid := shown(t, dir, "on ")
			if err := simulator.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = simulator.Wait()

			// The next simulator gets the machine when the last one's is gone.
			next := powerOn(t, dir, script(t, `echo next`, `exec sleep 1000`))
			shown(t, dir, "next")
			if alive(pid) {
				t.Error("two machines with one disk")
			}
			if said := shown(t, dir, tt.says); tt.says == "child" {
				gone(t, said)
			}
			next.off()
			_ = next.end(t)
		})
	}
}

// TestGuardEndsWithItsMachine counts processes of the group, not of the machine.
func TestGuardEndsWithItsMachine(t *testing.T) {
	dir := t.TempDir()
	p := powerOn(t, dir, script(t, `echo group $(ps -o pgid= -p $$)`, `exec sleep 1000`))
	group, err := strconv.Atoi(shown(t, dir, "group "))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(-group, 0); err != nil {
		t.Fatalf("no such group: %v", err)
	}
	p.off()
	_ = p.end(t)
	if err := syscall.Kill(-group, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("something of group %d is left: %v", group, err)
	}
}
