// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	// stopGrace is how long a component may take to end by itself.
	stopGrace = 5 * time.Second
)

// child is a component as a process of its own.
type child struct {
	name   string
	log    string
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	first  chan string   // the first report: "ready …" or "error …"
	ended  chan struct{} // closed when the process is gone
	report string        // the last report, valid once ended
}

// launch starts a component. The lock goes along, so that the directory stays
// taken until the last component is gone, even if this process is killed.
func (p *Plane) launch(ctx context.Context, name string, args []string) (*child, error) {
	log, err := openLog(p.options.Dir, name)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	listener, err := p.listener.File()
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	cmd := exec.Command(p.options.Executable, append([]string{"component", name}, args...)...)
	cmd.Dir = filepath.Join(p.options.Dir, "etcd")
	cmd.Stderr = log
	cmd.ExtraFiles = []*os.File{p.lock.File(), listener}
	c := &child{name: name, log: log.Name(), cmd: cmd, first: make(chan string, 1), ended: make(chan struct{})}
	if err := c.start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p.children = append(p.children, c)
	go func() {
		<-c.ended
		p.end(p.explain(c.failure()))
	}()
	return c, ctx.Err()
}

func (c *child) start() error {
	stdin, err := c.cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.cmd.Start(); err != nil {
		return err
	}
	c.stdin = stdin
	go c.read(stdout)
	return nil
}

// read takes the child's reports until it is gone.
func (c *child) read(stdout io.Reader) {
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		c.report = lines.Text()
		select {
		case c.first <- c.report:
		default:
		}
	}
	_ = c.cmd.Wait()
	close(c.ended)
}

// ready waits for the child's report that it serves, and returns its address.
func (c *child) ready(ctx context.Context) (string, error) {
	select {
	case report := <-c.first:
		if address, ok := strings.CutPrefix(report, "ready "); ok {
			return address, nil
		}
	case <-c.ended:
	case <-ctx.Done():
		return "", fmt.Errorf("%s is not ready: %w; its log is %s", c.name, ctx.Err(), c.log)
	}
	select {
	case <-c.ended:
		return "", c.failure()
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// failure waits for the end of the child and explains it: by its own report, else
// by the signal that ended it, else by the last line of its log.
func (c *child) failure() error {
	<-c.ended
	cause, ok := strings.CutPrefix(c.report, "error ")
	if status, known := c.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok && known && status.Signaled() {
		cause, ok = "it was killed, "+c.cmd.ProcessState.String(), true
	}
	if !ok {
		cause = LastLine(c.log)
	}
	return fmt.Errorf("%s ended: %s; its log is %s", c.name, cause, c.log)
}

// send writes a line to the child's standard input.
func (c *child) send(line string) error {
	if _, err := fmt.Fprintln(c.stdin, line); err != nil {
		return fmt.Errorf("report to %s: %w", c.name, err)
	}
	return nil
}

func (c *child) stop() {
	_ = c.stdin.Close()
	select {
	case <-c.ended:
	case <-time.After(stopGrace):
		_ = c.cmd.Process.Kill()
		<-c.ended
	}
}

// Kill ends a component without warning, as a crash does: the plane ends with it. One
// that the plane does not have is no error.
func (p *Plane) Kill(component string) {
	for _, c := range p.children {
		if c.name == component {
			_ = c.cmd.Process.Kill() // fails if it has ended
		}
	}
}
