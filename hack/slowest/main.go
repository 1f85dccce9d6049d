// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command slowest runs `go test -json …`, prints what `go test` prints without -json,
// and then the ten slowest tests, without those whose results came from the cache.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// shown is how many tests are printed.
const shown = 10

// event is one line of `go test -json` (see `go doc test2json`).
type event struct {
	Action  string
	Package string
	Test    string
	Elapsed float64
	Output  string
}

// test is a top-level test that ran.
type test struct {
	name, pkg string
	took      time.Duration
}

func main() {
	if len(os.Args) < 4 || !slices.Contains(os.Args, "-json") {
		fmt.Fprintln(os.Stderr, "usage: slowest go test -json …")
		os.Exit(2)
	}
	err := run(os.Args[1:], os.Stdout)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(cmp.Or(max(exit.ExitCode(), 0), 1))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "slowest:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	report(stdout, slices.Contains(args, "-v"), out)
	return cmd.Wait()
}

// report prints the output of the tests, then the slowest of them.
func report(in io.Reader, verbose bool, out io.Writer) {
	p := printer{out: out, verbose: verbose, held: map[string][]string{}}
	for lines := bufio.NewReader(in); ; {
		line, err := lines.ReadString('\n')
		e := event{}
		if json.Unmarshal([]byte(line), &e) == nil {
			p.take(e)
		} else {
			fmt.Fprint(out, line)
		}
		if err != nil {
			break
		}
	}
	p.printSlowest()
}

// printer prints the output of packages at once. Unless it is verbose, it holds the
// output of a test back until the test has failed.
type printer struct {
	out     io.Writer
	verbose bool
	held    map[string][]string // by package and top-level test
	tests   []test
}

func (p *printer) take(e event) {
	name, _, sub := strings.Cut(e.Test, "/")
	key := e.Package + " " + name
	switch e.Action {
	case "output", "build-output":
		if p.verbose || e.Test == "" {
			p.print(e)
		} else {
			p.held[key] = append(p.held[key], e.Output)
		}
	case "pass", "fail", "skip":
		if e.Test == "" || sub {
			return
		}
		if e.Action == "fail" {
			fmt.Fprint(p.out, strings.Join(p.held[key], ""))
		}
		delete(p.held, key)
		p.tests = append(p.tests, test{name, e.Package, time.Duration(e.Elapsed * float64(time.Second))})
	}
}

// print leaves out the word PASS, which `go test` prints for a package with -v only. The
// cache repeats how long a test once took; such tests are forgotten.
func (p *printer) print(e event) {
	if strings.HasSuffix(e.Output, "\t(cached)\n") {
		p.tests = slices.DeleteFunc(p.tests, func(t test) bool { return t.pkg == e.Package })
	}
	if p.verbose || e.Output != "PASS\n" {
		fmt.Fprint(p.out, e.Output)
	}
}

func (p *printer) printSlowest() {
	tests := slices.DeleteFunc(p.tests, func(t test) bool { return t.took < time.Second })
	if len(tests) == 0 {
		return
	}
	slices.SortStableFunc(tests, func(a, b test) int { return cmp.Compare(b.took, a.took) })
	fmt.Fprintln(p.out, "\nslowest tests:")
	for _, t := range tests[:min(shown, len(tests))] {
		fmt.Fprintf(p.out, "  %5.1f s  %s  %s\n", t.took.Seconds(), t.name, strings.TrimPrefix(t.pkg, "github.com/butlerdotdev/butler/"))
	}
}
