// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/internal/manifest"
)

const callRuns = 3

// firstCall measures the time from the start of a bootstrap to its first connection to the
// platform: a Harvester that runs already, as a real one does.
func firstCall(ctx context.Context, l *lab) (values, error) {
	dir := filepath.Join(l.cli.Home(), "platform")
	platform, stop := context.WithCancel(ctx)
	defer stop()
	cmd := l.cli.Command(platform, "sim", "harvester", "--state-dir", dir)
	cmd.Stdout, cmd.Stderr = nil, nil
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer func() {
		stop()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait() // it was interrupted
	}()
	if !started(out) {
		return nil, errors.New("butleradm sim harvester ended before it was ready")
	}
	var took []float64
	for range callRuns {
		one, err := callOnce(ctx, l, filepath.Join(dir, "kubeconfig"))
		if err != nil {
			return nil, err
		}
		took = append(took, one)
	}
	return values{"call": median(took)}, nil
}

// started reads lines until the platform has reported where its kubeconfig is.
func started(out io.Reader) bool {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), "kubeconfig") {
			return true
		}
	}
	return false
}

// callOnce runs a bootstrap until it connects to the platform, which then does not answer.
func callOnce(ctx context.Context, l *lab, kubeconfig string) (float64, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	credentials, err := redirected(l, kubeconfig, listener.Addr().String())
	if err != nil {
		return 0, err
	}
	m, err := manifest.Load(l.manifest)
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp(l.cli.Home(), "call")
	if err != nil {
		return 0, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := l.cli.Command(ctx, "bootstrap", string(m.Provider.Spec.Provider), "-c", l.manifest, "--credentials", credentials, "--yes")
	cmd.Env = append(cmd.Env, "BUTLER_HOME="+dir) // each has its own: a home has one cluster of a name
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() {
		ended <- cmd.Wait()
		listener.Close()
	}()
	_, err = listener.Accept()
	took := time.Since(start).Seconds()
	if err != nil {
		return 0, fmt.Errorf("butleradm bootstrap ended before it called the platform: %w\n%s", <-ended, &said)
	}
	stop()
	<-ended
	return took, nil
}

// redirected writes a kubeconfig whose server is at another address.
func redirected(l *lab, kubeconfig, address string) (string, error) {
	data, err := os.ReadFile(kubeconfig)
	if err != nil {
		return "", err
	}
	var config struct {
		Clusters []struct {
			Cluster struct{ Server string }
		}
	}
	if err := yaml.Unmarshal(data, &config); err != nil {
		return "", err
	}
	server, err := url.Parse(config.Clusters[0].Cluster.Server)
	if err != nil {
		return "", err
	}
	path := filepath.Join(l.cli.Home(), "redirected")
	return path, os.WriteFile(path, []byte(strings.ReplaceAll(string(data), server.Host, address)), 0o600)
}
