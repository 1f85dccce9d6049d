// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// benchmark is an experiment that runs a Go benchmark of a package of this module. Its keys are
// "NAME/SUB UNIT", without the word Benchmark; seconds per operation are "s/op".
func benchmark(pkg, name, times string) experiment {
	return experiment{pkg + " " + name, func(ctx context.Context, l *lab) (values, error) {
		binary, err := l.testBinary(ctx, pkg)
		if err != nil {
			return nil, err
		}
		cmd := exec.CommandContext(ctx, binary, "-test.run=^$", "-test.bench="+exactly(name), "-test.benchtime="+times, "-test.timeout=2h")
		cmd.Dir, cmd.Stderr = pkg, os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("%w\n%s", err, out)
		}
		return parseBenchmarks(out)
	}}
}

// exactly is the pattern of one benchmark: each part of its name matches as a whole.
func exactly(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + p + "$"
	}
	parts[0] = "^Benchmark" + strings.TrimPrefix(parts[0], "^")
	return strings.Join(parts, "/")
}

// testBinary builds the tests of a package once.
func (l *lab) testBinary(ctx context.Context, pkg string) (string, error) {
	path := filepath.Join(l.cli.Home(), strings.ReplaceAll(pkg, "/", "-")+".test")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-ldflags", os.Getenv("BUTLER_LDFLAGS"), "-o", path, "./"+pkg)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("build the tests of %s: %w\n%s", pkg, err, &out)
	}
	return path, nil
}

// result is a line of a benchmark: name, processors, repetitions, and values with their units.
var result = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)

// parseBenchmarks reads the output of benchmarks.
func parseBenchmarks(out []byte) (values, error) {
	all := values{}
	for line := range strings.Lines(string(out)) {
		m := result.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		fields := strings.Fields(m[2])
		for i := 0; i+1 < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("benchmark %s: %w", m[1], err)
			}
			all.add(m[1], fields[i+1], value)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no benchmark ran:\n%s", out)
	}
	return all, nil
}

func (v values) add(name, unit string, value float64) {
	if unit == "ns/op" {
		unit, value = "s/op", value/1e9
	}
	v[name+" "+unit] = value
}
