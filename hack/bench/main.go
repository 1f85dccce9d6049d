// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command bench measures what a user waits for: the local plane, the rehearsal
// of a cluster, how far that is from the critical path when every part takes as
// long as a real one, and the end of a cluster.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/butlerdotdev/butler/hack/butleradm"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/version"
)

const (
	planeGoal     = 3 * time.Second
	rehearsalGoal = 60 * time.Second
	destroyGoal   = 60 * time.Second
	planeRuns     = 3
	// destroyed is how many machines a cluster has that is destroyed: a manifest has
	// ten workers at most. BenchmarkDestroy has more of them, without a plane.
	destroyed = 10
	// overhead is how much longer than its critical path a rehearsal may take.
	overhead = 1.10
)

func main() {
	path := flag.String("butleradm", "bin/butleradm", "the executable")
	file := flag.String("manifest", "", "`FILE` with the cluster to rehearse")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := bench(ctx, *path, *file); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, path, file string) (err error) {
	cli, err := butleradm.New(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cli.Close()) }()
	for i := range planeRuns {
		took, err := plane(ctx, cli, filepath.Join(cli.Home(), fmt.Sprintf("plane-%d", i)))
		if err != nil {
			return err
		}
		row("plane ready", took, planeGoal)
	}
	took, err := rehearsal(ctx, cli, file, datacenter.Instant)
	if err != nil {
		return err
	}
	row("rehearsal ready", took, rehearsalGoal)
	if took, err = destruction(ctx, cli, file); err != nil {
		return err
	}
	row(fmt.Sprintf("destroy %d", destroyed), took, destroyGoal)
	return realistic(ctx, cli, file)
}

// realistic compares a rehearsal in which everything takes its time with the
// longest chain of what has to wait for each other.
func realistic(ctx context.Context, cli *butleradm.CLI, file string) error {
	profile, err := datacenter.ProfileNamed(datacenter.Realistic)
	if err != nil {
		return err
	}
	took, err := rehearsal(ctx, cli, file, datacenter.Realistic)
	if err != nil {
		return err
	}
	path, err := criticalPath(profile, file)
	if err != nil {
		return err
	}
	row("critical path", path, path)
	row("realistic ready", took, time.Duration(float64(path)*overhead))
	fmt.Printf("wall time is %.2f times the critical path, goal %.2f\n", took.Seconds()/path.Seconds(), overhead)
	return nil
}

// criticalPath of a cluster without a load balancer: machines are made side by
// side, the first control plane brings up etcd and its API server, and all nodes
// become Ready from there on, with the network, which is the first of the addons.
// The others follow level by level.
func criticalPath(p datacenter.Profile, file string) (time.Duration, error) {
	m, err := manifest.Load(file)
	if err != nil {
		return 0, err
	}
	addons, err := addon.For(m.Cluster.Spec, addon.Facts{Version: version.Version})
	if err != nil {
		return 0, err
	}
	levels, err := addon.Levels(addons)
	if err != nil {
		return 0, err
	}
	nodes := p.Create + p.Boot + p.Etcd + p.APIServer + p.NodeReady
	return nodes + time.Duration(len(levels)-1)*p.Chart, nil
}

func row(what string, took, goal time.Duration) {
	verdict := "ok"
	if took > goal {
		verdict = "too slow"
	}
	fmt.Printf("%-16s %6.2fs   goal %3.0fs   %s\n", what, took.Seconds(), goal.Seconds(), verdict)
}

// plane starts a plane in an empty folder and stops it as soon as it is ready.
func plane(ctx context.Context, cli *butleradm.CLI, dir string) (time.Duration, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := cli.Command(ctx, "plane", "--state-dir", dir)
	cmd.Stdout = nil
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ready := sawKubeconfig(out)
	took := time.Since(start)
	stop()
	_, _ = io.Copy(io.Discard, out)
	err = cmd.Wait()
	if !ready {
		return 0, fmt.Errorf("butleradm plane ended before it was ready: %w", err)
	}
	return took, nil
}

func sawKubeconfig(out io.Reader) bool {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "kubeconfig: ") {
			return true
		}
	}
	return false
}

// rehearsal measures the bootstrap of the manifest's cluster to Ready, and stops its simulator.
func rehearsal(ctx context.Context, cli *butleradm.CLI, file, profile string) (time.Duration, error) {
	m, err := manifest.Load(file)
	if err != nil {
		return 0, err
	}
	dir := filepath.Join(cli.Home(), profile)
	start := time.Now()
	err = cli.Run(ctx, "bootstrap", string(m.Provider.Spec.Provider), "-c", file, "--rehearse", "--profile", profile, "--state-dir", dir)
	took := time.Since(start)
	return took, errors.Join(err, cli.Run(ctx, "sim", "stop", "--state-dir", dir))
}
