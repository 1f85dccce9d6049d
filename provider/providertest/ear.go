// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/go-logr/logr"

	"github.com/butlerdotdev/butler/provider"
)

// ear hears everything that a driver says: errors, messages and log lines.
type ear struct {
	mu   sync.Mutex
	text bytes.Buffer
	// asked are the machines that were last asked for.
	asked map[provider.MachineRef]provider.MachineSpec
}

// Write takes a log line.
func (e *ear) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.text.Write(p)
}

func (e *ear) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(e, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// context carries a logger that the ear hears.
func (e *ear) context(ctx context.Context) context.Context {
	return logr.NewContextWithSlogLogger(ctx, e.logger())
}

// listen hears the default logger until the returned function is called.
func (e *ear) listen() func() {
	before := slog.Default()
	slog.SetDefault(e.logger())
	return func() { slog.SetDefault(before) }
}

func (e *ear) err(err error) {
	if err != nil {
		fmt.Fprintf(e, "%v\n%+v\n%#v\n", err, err, err)
	}
}

// said reports whether the text was heard.
func (e *ear) said(text string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Contains(e.text.String(), text)
}

// overheard are machines whose errors and messages an ear hears.
type overheard struct {
	provider.Machines
	ear *ear
}

// Observe implements provider.Machines.
func (o *overheard) Observe(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
	m, err := o.Machines.Observe(ctx, ref)
	return o.hear(m, err)
}

// Create implements provider.Machines.
func (o *overheard) Create(ctx context.Context, s provider.MachineSpec) (provider.Machine, error) {
	o.ear.ask(s)
	m, err := o.Machines.Create(ctx, s)
	return o.hear(m, err)
}

func (e *ear) ask(s provider.MachineSpec) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.asked == nil {
		e.asked = map[provider.MachineRef]provider.MachineSpec{}
	}
	e.asked[s.MachineRef] = s
}

// last returns the machine that was last asked for under a reference.
func (e *ear) last(ref provider.MachineRef) (provider.MachineSpec, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, found := e.asked[ref]
	return s, found
}

// Delete implements provider.Machines.
func (o *overheard) Delete(ctx context.Context, ref provider.MachineRef) (provider.Machine, error) {
	m, err := o.Machines.Delete(ctx, ref)
	return o.hear(m, err)
}

// List implements provider.Machines.
func (o *overheard) List(ctx context.Context, owner provider.Owner) ([]provider.Machine, error) {
	all, err := o.Machines.List(ctx, owner)
	for _, m := range all {
		_, _ = o.hear(m, nil)
	}
	o.ear.err(err)
	return all, err
}

func (o *overheard) hear(m provider.Machine, err error) (provider.Machine, error) {
	o.ear.err(err)
	fmt.Fprintln(o.ear, m.Message)
	return m, err
}
