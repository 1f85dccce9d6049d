// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command demo runs a rehearsal: bootstrap, nodes through a real client, destroy. It
// leaves nothing behind.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/butlerdotdev/butler/hack/butleradm"
	"github.com/butlerdotdev/butler/internal/manifest"
)

// patience is how long the cluster may take until it is Ready: an addon that cannot be
// installed is retried until then.
const patience = "10m"

func main() {
	path := flag.String("butleradm", "bin/butleradm", "the executable")
	file := flag.String("manifest", "", "`FILE` with the cluster")
	charts := flag.String("charts", "", "source of the addons; empty: stand-ins")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := demo(ctx, *path, *file, *charts); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func demo(ctx context.Context, path, file, charts string) (err error) {
	m, err := manifest.Load(file)
	if err != nil {
		return err
	}
	cluster := m.Cluster.Spec.Cluster.Name
	cli, err := butleradm.New(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cli.Close()) }()
	fmt.Printf("export BUTLER_HOME=%s   # removed at the end\n", cli.Home())
	create := []string{"bootstrap", string(m.Provider.Spec.Provider), "-c", file, "--rehearse", "--yes", "--timeout", patience}
	if charts != "" {
		create = append(create, "--charts", charts)
	}
	if err := cli.Run(ctx, create...); err != nil {
		return err
	}
	if err := nodes(ctx, cli, cluster); err != nil {
		return err
	}
	if err := cli.Run(ctx, "status", cluster); err != nil {
		return err
	}
	if err := cli.Run(ctx, "destroy", cluster, "--yes"); err != nil {
		return err
	}
	if err := cli.Run(ctx, "sim", "stop", cluster); err != nil {
		return err
	}
	return cli.Run(ctx, "sim", "list")
}

// nodes lists the cluster's nodes through client-go, as kubectl would.
func nodes(ctx context.Context, cli *butleradm.CLI, cluster string) error {
	fmt.Printf("\n$ butleradm kubeconfig %s | go run ./hack/nodes\n", cluster)
	kubeconfig, err := cli.Output(ctx, "kubeconfig", cluster)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "run", "./hack/nodes")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(kubeconfig), os.Stdout, os.Stderr
	return cmd.Run()
}
