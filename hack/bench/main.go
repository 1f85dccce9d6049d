// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command bench measures what a user waits and pays for, prints it as a table, and
// compares it with the committed run: the plane, rehearsals, many machines, their
// end, and the size of it all. docs/performance.md explains the rows.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"time"

	"github.com/butlerdotdev/butler/hack/butleradm"
)

// settings are the flags.
type settings struct {
	bin, manifest, committed, json, commit string
	only                                   *regexp.Regexp
	update, list                           bool
}

func main() {
	s, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(0)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, s, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parse(args []string) (s settings, err error) {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.StringVar(&s.bin, "bin", "bin", "`DIR` with the executables")
	f.StringVar(&s.manifest, "manifest", "configs/examples/harvester-ha.yaml", "`FILE` with the cluster to rehearse")
	f.StringVar(&s.committed, "committed", "docs/performance.json", "`FILE` with the run to compare with")
	f.StringVar(&s.json, "json", "bin/bench.json", "`FILE` to write")
	f.StringVar(&s.commit, "commit", "unknown", "commit that is measured")
	f.BoolVar(&s.update, "update", false, "write what was measured to the committed run as well")
	f.BoolVar(&s.list, "list", false, "list the measures and run nothing")
	only := f.String("only", "", "`REGEXP` of the measures to take; all if it is empty")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	if f.NArg() > 0 {
		return s, fmt.Errorf("unknown argument %q", f.Arg(0))
	}
	s.only, err = regexp.Compile(*only)
	return s, err
}

func run(ctx context.Context, s settings, out io.Writer) error {
	chosen, err := choose(measures(), s.only)
	if err != nil {
		return err
	}
	if s.list {
		for _, m := range chosen {
			fmt.Fprintln(out, m.name)
		}
		return nil
	}
	before, err := readRecord(s.committed)
	if err != nil {
		return err
	}
	now, failed, err := take(ctx, s, chosen, before, printer{out})
	if err != nil {
		return err
	}
	if err := now.write(s.json); err != nil {
		return err
	}
	if s.update {
		return errors.Join(verdict(0, failed), before.merged(now).write(s.committed))
	}
	return verdict(worse(chosen, now), failed)
}

// choose returns the measures whose names match.
func choose(all []measure, only *regexp.Regexp) ([]measure, error) {
	chosen := slices.DeleteFunc(all, func(m measure) bool { return !only.MatchString(m.name) })
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no measure matches %q; -list lists them", only)
	}
	return chosen, nil
}

// take runs the experiments of the chosen measures.
func take(ctx context.Context, s settings, chosen []measure, before record, p printer) (now record, failed int, err error) {
	l, err := s.lab()
	if err != nil {
		return now, 0, err
	}
	defer func() { err = errors.Join(err, l.cli.Close()) }()
	speed := calibrate()
	now = record{Time: time.Now().UTC().Truncate(time.Second), Commit: s.commit, Values: map[string]taken{}}
	if now.Machine, err = describe(speed); err != nil {
		return now, 0, err
	}
	p.head()
	for _, e := range experiments() {
		wanted := slices.DeleteFunc(slices.Clone(chosen), func(m measure) bool { return m.experiment != e.name })
		if len(wanted) == 0 {
			continue
		}
		if err := now.observe(ctx, l, e, wanted, before, p); err != nil {
			failed++
			p.failed(e.name, err)
		}
		if ctx.Err() != nil {
			return now, failed, ctx.Err()
		}
	}
	now.divide(chosen, before, p)
	return now, failed, nil
}

func (s settings) lab() (*lab, error) {
	cli, err := butleradm.New(filepath.Join(s.bin, "butleradm"))
	if err != nil {
		return nil, err
	}
	return &lab{cli: cli, bin: s.bin, manifest: s.manifest}, nil
}

// observe runs an experiment and records its measures. The speed of the machine is that
// before and after it.
func (r record) observe(ctx context.Context, l *lab, e experiment, wanted []measure, before record, p printer) error {
	speed := calibrate()
	found, err := e.run(ctx, l)
	if err != nil {
		return err
	}
	speed = (speed + calibrate()) / 2
	for _, m := range wanted {
		value, ok := found[m.key]
		if !ok {
			err = errors.Join(err, fmt.Errorf("it did not measure %q", m.key))
			continue
		}
		r.add(m, taken{Value: value, Unit: m.unit, Speed: speed}, before, p)
	}
	return err
}

// divide records the measures that are quotients of others: how much worse one is than the other.
func (r record) divide(chosen []measure, before record, p printer) {
	for _, m := range chosen {
		over, ok := r.Values[m.over[0]]
		under, known := r.Values[m.over[1]]
		if m.experiment == "" && ok && known {
			r.add(m, taken{Value: named(m.over[0]).ratio(over, under), Speed: over.Speed}, before, p)
		}
	}
}

// named returns the measure of a name.
func named(name string) measure {
	all := measures()
	return all[slices.IndexFunc(all, func(m measure) bool { return m.name == name })]
}

func (r record) add(m measure, t taken, before record, p printer) {
	t.Target = m.target
	if old, ok := before.Values[m.name]; ok {
		t.Ratio = m.ratio(t, old)
	}
	r.Values[m.name] = t
	p.row(m, t)
}

// worse counts the measures that are worse than they may be.
func worse(chosen []measure, now record) (n int) {
	for _, m := range chosen {
		if t := now.Values[m.name]; t.Ratio != 0 && m.worse(t.Ratio) {
			n++
		}
	}
	return n
}

func verdict(worse, failed int) error {
	if worse == 0 && failed == 0 {
		return nil
	}
	return fmt.Errorf("%d measures are worse than the committed run by more than their margin (!), %d experiments failed", worse, failed)
}
