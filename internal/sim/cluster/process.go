// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/internal/plane"
)

const (
	// probePeriod is how often a controller is asked that is not ready yet, and
	// watchPeriod how often one that is.
	probePeriod  = 100 * time.Millisecond
	watchPeriod  = 2 * time.Second
	probeTimeout = time.Second
	// usualGrace is how long a container has to end if its pod does not say.
	usualGrace = 30 * time.Second
	// niceness of the controllers' processes.
	niceness = 10
)

var errMoved = errors.New("the API server is at another address")

// run starts the controller and returns when it has ended, with the reason. It says
// whether the controller ever was ready.
func (p *process) run(ctx context.Context) (wasReady bool, err error) {
	s := p.kubelet.present()
	if s == nil {
		return false, errors.New("no API server to get its token from")
	}
	kubeconfig, err := p.writeKubeconfig(ctx, s)
	if err != nil {
		return false, err
	}
	defer os.Remove(kubeconfig)
	health, err := freeAddress()
	if err != nil {
		return false, err
	}
	cmd, log, err := p.command(kubeconfig, health)
	if err != nil {
		return false, err
	}
	defer log.Close()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return false, err
	}
	defer stdin.Close()
	if err := cmd.Start(); err != nil {
		return false, err
	}
	// On its own machine it would not conflict with others.
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, cmd.Process.Pid, niceness)
	p.kubelet.Log.Info("controller starts", "node", p.kubelet.Node.Name, "pod", keyOf(p.pod), "output", log.Name())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	wasReady, err = p.watch(ctx, s, health, ended)
	p.end(cmd.Process, ended)
	return wasReady, describe(err, log.Name())
}

// watch asks the controller whether it is ready until it has ended, or has to.
func (p *process) watch(ctx context.Context, s *session, health string, ended chan error) (wasReady bool, err error) {
	for ready, period := false, probePeriod; ; {
		select {
		case err := <-ended:
			ended <- err
			return wasReady, err
		case <-ctx.Done():
			return wasReady, ctx.Err()
		case <-time.After(period):
		}
		if now := p.kubelet.present(); now != nil && now.access.Config.Host != s.access.Config.Host {
			return wasReady, errMoved
		}
		if now := answers(ctx, "http://"+health+"/readyz"); now != ready {
			ready, wasReady = now, wasReady || now
			p.report(podState{phase: corev1.PodRunning, ready: ready})
		}
		period = probePeriod
		if ready {
			period = watchPeriod
		}
	}
}

// end has the process end, if it has not: with a grace, unless the machine lost its
// power.
func (p *process) end(process *os.Process, ended <-chan error) {
	grace := usualGrace
	if s := p.pod.Spec.TerminationGracePeriodSeconds; s != nil {
		grace = time.Duration(*s) * time.Second
	}
	select {
	case <-ended:
		return
	case <-p.kubelet.containers.off:
	default:
		_ = process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
			return
		case <-p.kubelet.containers.off:
		case <-time.After(grace):
		}
	}
	// What the command has started goes along.
	_ = syscall.Kill(-process.Pid, syscall.SIGKILL)
	<-ended
}

// describe adds the last words of a process that ended by itself.
func describe(err error, log string) error {
	if exit := (*exec.ExitError)(nil); err == nil || errors.As(err, &exit) {
		status := "exit status 0"
		if err != nil {
			status = err.Error()
		}
		return fmt.Errorf("it ended with %s: %s", status, plane.LastLine(log))
	}
	return err
}

func (p *process) command(kubeconfig, health string) (*exec.Cmd, *os.File, error) {
	env, err := p.environment()
	if err != nil {
		return nil, nil, err
	}
	metrics, err := freeAddress()
	if err != nil {
		return nil, nil, err
	}
	log, err := os.OpenFile(filepath.Join(p.dir, p.container.Name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, err
	}
	line := slices.Concat(p.kubelet.Controllers.Command, []string{p.name()}, arguments(p.container, env, health, metrics))
	if hasWebhooks(p.name()) {
		address, err := freeAddress()
		if err != nil {
			return nil, nil, err
		}
		p.kubelet.programs.setHooks(p.pod.UID, address)
		line = append(line, "--webhook-bind-address="+address)
	}
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, log, log
	cmd.Env = append(inherited(), "KUBECONFIG="+kubeconfig)
	for _, e := range env {
		cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, log, nil
}

// freeAddress is one without a listener.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func answers(ctx context.Context, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}
