// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package component runs one component of a control plane as the body of a
// child process. It is the only package that links Kubernetes and etcd.
//
// A child's standard input is a pipe that its parent holds open: when it ends,
// the child ends, so no child outlives its parent on any operating system. The
// API server reads one line from it: the address of the store. A child reports on
// its standard output, one line each: "ready ADDRESS" or "error MESSAGE"; its log
// goes to standard error.
package component

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

type run func(ctx context.Context, args []string) error

// Main runs the component that args[0] names until the parent is gone or the
// component fails, and returns the exit code.
func Main(args []string) int {
	if len(args) == 0 {
		return fail(fmt.Errorf("which component?"))
	}
	store := newStore()
	components := map[string]run{
		"etcd":                    runEtcd,
		"kube-apiserver":          func(ctx context.Context, args []string) error { return runAPIServer(ctx, store, args) },
		"kube-controller-manager": runControllerManager,
		"kube-scheduler":          runScheduler,
	}
	r, ok := components[args[0]]
	if !ok {
		return fail(fmt.Errorf("no component is called %q", args[0]))
	}
	startFast()
	// A terminal sends Ctrl-C to the whole group; the parent decides what it means.
	signal.Ignore(os.Interrupt, syscall.SIGHUP)
	if err := r(untilParentGone(store), args[1:]); err != nil {
		return fail(err)
	}
	return 0
}

// untilParentGone ends when standard input does. Its first line is the address of the store.
func untilParentGone(s *store) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		in := bufio.NewReader(os.Stdin)
		if line, err := in.ReadString('\n'); err == nil {
			s.found(line)
		}
		_, _ = io.Copy(io.Discard, in)
	}()
	return ctx
}

// exitWith ends the process with ctx: for a component without state of its
// own, whose orderly shutdown would only delay the parent.
func exitWith(ctx context.Context) {
	go func() {
		<-ctx.Done()
		os.Exit(0)
	}()
}

func ready(address string) { fmt.Printf("ready %s\n", address) }

func fail(err error) int {
	fmt.Printf("error %s\n", err)
	return 1
}
