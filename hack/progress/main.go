// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Command progress runs `go build -v …` and replaces its list of packages by
// one line every few seconds. Everything else that the command says, such as
// compile errors, is passed on as it is.
package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

const (
	quiet    = 5 * time.Second // a build that is quicker than this needs no words
	interval = 10 * time.Second
)

// packageLine is what -v prints for a package: an import path and nothing else.
var packageLine = regexp.MustCompile(`^[\w.~+-]+(/[\w.~+-]+)*$`)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: progress [env NAME=VALUE …] go build -v …")
		os.Exit(2)
	}
	if err := build(os.Args[1:], os.Stderr); err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			os.Exit(cmp.Or(max(exit.ExitCode(), 0), 1))
		}
		fmt.Fprintln(os.Stderr, "progress:", err)
		os.Exit(1)
	}
}

func build(args []string, out io.Writer) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout = os.Stdout
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := make(chan string)
	go scan(stderr, lines)
	report(lines, total(args), out)
	return cmd.Wait()
}

func scan(r io.Reader, lines chan<- string) {
	defer close(lines)
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		lines <- scanner.Text()
	}
	// A line longer than the buffer must not block the build.
	_, _ = io.Copy(io.Discard, r)
}

// report counts packages until the lines end. The total is asked for only once
// the build turns out to be a long one.
func report(lines <-chan string, total func() int, out io.Writer) {
	start, packages, all := time.Now(), 0, 0
	next := time.After(quiet)
	for {
		select {
		case line, more := <-lines:
			if !more {
				return
			}
			if packageLine.MatchString(line) {
				packages++
			} else if !strings.HasPrefix(line, "go: downloading ") {
				fmt.Fprintln(out, line)
			}
		case <-next:
			if all == 0 {
				all = total()
				fmt.Fprintln(out, "building; the first time takes 8 to 12 minutes on two cores, later builds take seconds")
			}
			fmt.Fprintf(out, "  %4ds  %d of at most %d packages compiled\n", int(time.Since(start).Seconds()), packages, all)
			next = time.After(interval)
		}
	}
}

// total counts the packages that the command's arguments need.
func total(args []string) func() int {
	list := []string{"list", "-deps"}
	for _, arg := range args {
		if strings.HasPrefix(arg, "./") {
			list = append(list, arg)
		}
	}
	return func() int {
		// Without a count the build continues, and so does its output.
		out, _ := exec.Command("go", list...).Output()
		return strings.Count(string(out), "\n")
	}
}
