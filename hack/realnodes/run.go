// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/butlerdotdev/butler/hack/butleradm"
)

// trial is one run.
type trial struct {
	options
	addresses

	cli      *butleradm.CLI
	platform *platform
	observed *observed
	took     []stage
}

// stage is a part of a run that was done, and how long it took.
type stage struct {
	name string
	took time.Duration
}

// run leaves nothing behind but the images in the registry. If it fails, the directory with
// the consoles of the nodes is kept.
func run(ctx context.Context, o options) (err error) {
	a, err := addressesOf(o.Registry)
	if err != nil {
		return err
	}
	cli, err := butleradm.New(o.Butleradm)
	if err != nil {
		return err
	}
	t := &trial{options: o, addresses: a, cli: cli}
	if err = errors.Join(t.all(ctx), t.print(os.Stdout)); err != nil {
		return fmt.Errorf("%w\n%s is kept; consoles of the nodes: platform/datacenter/machines in it", err, cli.Home())
	}
	return cli.Close()
}

func (t *trial) all(ctx context.Context) (err error) {
	if err := t.measure("images pushed", func() error { return t.push(ctx) }); err != nil {
		return err
	}
	if t.platform, err = startPlatform(ctx, t.cli, t.addresses, t.Boot); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.platform.close()) }()
	network, err := openPodNetwork()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, network.Close()) }()
	t.observed = observe(ctx, t.cli, network)
	defer t.observed.close()
	return t.life(ctx)
}

// life is that of the cluster, from its creation to its end.
func (t *trial) life(ctx context.Context) error {
	for _, part := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"Ready, managing itself", t.create},
		{"worker replaced", t.replaceWorker},
		{"destroyed", t.destroy},
	} {
		if err := t.measure(part.name, func() error { return part.do(ctx) }); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return t.cli.Run(ctx, "sim", "check", "--state-dir", t.platform.dir, "--empty")
}

func (t *trial) measure(name string, do func() error) error {
	start := time.Now()
	err := do()
	t.took = append(t.took, stage{name, time.Since(start)})
	return err
}

func (t *trial) push(ctx context.Context) error {
	return t.cli.Run(ctx, "images", "push", "--from", t.Images, "--to", t.Repository, "--insecure")
}

func (t *trial) create(ctx context.Context) error {
	data, err := t.manifest()
	if err != nil {
		return err
	}
	file := filepath.Join(t.cli.Home(), "cluster.yaml")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return err
	}
	if err := t.cli.Run(ctx, "bootstrap", "harvester", "-c", file, "--credentials", t.platform.credentials(), "--yes"); err != nil {
		return err
	}
	if err := t.cli.Run(ctx, "timeline", cluster); err != nil {
		return err
	}
	return t.observed.await(ctx, "the cluster manages itself, and all its pods are ready", selfManaged)
}

// replaceWorker has the platform lose the worker. The controllers, which run on the cluster's
// own nodes, notice that and replace it.
func (t *trial) replaceWorker(ctx context.Context) error {
	seen, err := t.observed.get()
	if err != nil {
		return err
	}
	before := seen.node(worker).UID
	fmt.Fprintf(os.Stdout, "\n%s%s is deleted on the platform\n", seen.placement(), worker)
	if err := t.platform.lose(ctx, worker); err != nil {
		return err
	}
	err = t.observed.await(ctx, worker+" is another machine, and all is ready", func(s state) error {
		if n := s.node(worker); n.UID == before || !ready(n) {
			return fmt.Errorf("node %s is the one from before, or not Ready", worker)
		}
		return selfManaged(s)
	})
	if err != nil {
		return err
	}
	seen, err = t.observed.get()
	fmt.Fprint(os.Stdout, seen.placement())
	return err
}

func (t *trial) destroy(ctx context.Context) error {
	cmd := t.cli.Command(ctx, "destroy", cluster, "--yes")
	var out bytes.Buffer
	cmd.Stdout = io.MultiWriter(os.Stdout, &out)
	fmt.Fprintf(os.Stdout, "\n$ butleradm destroy %s --yes\n", cluster)
	if err := cmd.Run(); err != nil {
		return err
	}
	if !bytes.Contains(out.Bytes(), []byte("left 0")) {
		return fmt.Errorf("the ledger does not say that nothing is left: %s", &out)
	}
	return nil
}

func (t *trial) print(to io.Writer) error {
	fmt.Fprintln(to)
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, s := range t.took {
		fmt.Fprintf(table, "%s\t%.0f s\n", s.name, s.took.Seconds())
	}
	return table.Flush()
}
