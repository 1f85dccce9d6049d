// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package boot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// guardScript keeps a machine from outliving the simulator. It leads the process
// group that the command then joins, and reads a pipe that no other process has open: its
// end is the simulator's. A command that was only just forked holds the pipe until
// it has joined the group, so that none escapes. Its exit status may not have been read: a
// command that has ended; where the system shows such a one, it is not waited for.
const guardScript = `trap '' TERM INT HUP
read -r machine
read -r nothing
if [ -n "$machine" ] && kill -TERM "$machine"; then
	until [ "$1" -le 0 ] || ! kill -0 "$machine" || grep -qs '^State:.*Z' "/proc/$machine/status"; do
		set -- $(($1 - 1))
		sleep 0.1
	done
fi
kill -KILL 0`

// process is a command that runs, and the guard that leads its group.
type process struct {
	guard, machine *exec.Cmd
	pipe           io.WriteCloser // to the guard
	ended          chan struct{}  // closed when the command has ended
	err            error          // how, valid after ended
}

func (c Command) start(env []string, screen, held *os.File) (*process, error) {
	p := &process{ended: make(chan struct{})}
	if err := p.startGuard(c.Grace, held); err != nil {
		return nil, err
	}
	p.machine = exec.Command("/bin/sh", "-c", "exec "+c.Line)
	p.machine.Env, p.machine.Stdout, p.machine.Stderr = env, screen, screen
	p.machine.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: p.guard.Process.Pid}
	err := p.machine.Start()
	if err == nil {
		go p.reap()
		_, err = fmt.Fprintln(p.pipe, p.machine.Process.Pid)
	}
	if err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

func (p *process) startGuard(grace time.Duration, held *os.File) error {
	tenths := grace / (100 * time.Millisecond)
	p.guard = exec.Command("/bin/sh", "-c", guardScript, "guard", fmt.Sprint(int(tenths)))
	p.guard.ExtraFiles = []*os.File{held}
	p.guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	if p.pipe, err = p.guard.StdinPipe(); err != nil {
		return err
	}
	return p.guard.Start()
}

// live returns when the command has ended, and with it everything in its group.
func (p *process) live(ctx context.Context, grace time.Duration) error {
	defer p.kill()
	select {
	case <-p.ended:
		return died(p.err)
	case <-ctx.Done():
	}
	if err := p.machine.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.ended:
	case <-time.After(grace):
	}
	return ctx.Err()
}

// kill ends the whole group, guard included, and returns when both are gone.
func (p *process) kill() {
	_ = syscall.Kill(-p.guard.Process.Pid, syscall.SIGKILL) // fails if the group is gone
	_ = p.guard.Wait()
	if p.machine.Process != nil {
		<-p.ended
	}
}

func (p *process) reap() {
	p.err = p.machine.Wait()
	close(p.ended)
}

func died(err error) error {
	if err == nil {
		return errors.New("its boot command ended by itself")
	}
	return fmt.Errorf("its boot command ended by itself: %w", err)
}
