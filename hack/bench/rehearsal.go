// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/internal/version"
)

// rehearsal measures a bootstrap on a platform that takes no time: each phase, and memory.
func rehearsal(ctx context.Context, l *lab) (values, error) {
	watched, stop := context.WithCancel(ctx)
	defer stop()
	memory := watchMemory(watched, l.cli.Home())
	v, err := rehearse(ctx, l, datacenter.Instant)
	stop()
	most := <-memory
	v["memory"], v["controllers"] = most.memory, most.controllers
	return v, err
}

// rehearse runs a bootstrap to Ready and stops its simulator. It returns when it was Ready and
// how long each phase took.
func rehearse(ctx context.Context, l *lab, profile string) (values, error) {
	m, err := manifest.Load(l.manifest)
	if err != nil {
		return values{}, err
	}
	dir := filepath.Join(l.cli.Home(), profile)
	cmd := l.cli.Command(ctx, "bootstrap", string(m.Provider.Spec.Provider), "-c", l.manifest, "--rehearse", "--profile", profile, "--state-dir", dir, "--output", "json")
	var out, diagnosis bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diagnosis
	start := time.Now()
	err = cmd.Run()
	took := time.Since(start).Seconds()
	stopped := l.quietly(ctx, "sim", "stop", "--state-dir", dir)
	if err != nil {
		return values{}, fmt.Errorf("butleradm bootstrap: %w\n%s%s", err, &diagnosis, lastLine(out.Bytes()))
	}
	return phaseTimes(&out).with(values{"ready": took}), stopped
}

// quietly runs a command, and prints what it wrote if it fails.
func (l *lab) quietly(ctx context.Context, args ...string) error {
	cmd := l.cli.Command(ctx, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("butleradm %s: %w\n%s", args[0], err, &out)
	}
	return nil
}

// phaseTimes reads events and returns how long each phase took; one that is over before it is seen
// took nothing.
func phaseTimes(events io.Reader) values {
	out, last, since := values{}, "", 0.0
	for _, phase := range phases() {
		out[string(phase)] = 0
	}
	for decoder := json.NewDecoder(events); ; {
		var e ui.Event
		if decoder.Decode(&e) != nil {
			return out
		}
		if e.Type == ui.EventPhase || e.Type == ui.EventReady {
			if last != "" {
				out[last] += e.Elapsed - since
			}
			last, since = string(e.Phase), e.Elapsed
		}
	}
}

func lastLine(out []byte) []byte {
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	return lines[len(lines)-1]
}

// realistic compares a rehearsal in which everything takes its time with the
// longest chain of what has to wait for each other.
func realistic(ctx context.Context, l *lab) (values, error) {
	profile, err := datacenter.ProfileNamed(datacenter.Realistic)
	if err != nil {
		return nil, err
	}
	path, err := criticalPath(profile, l.manifest)
	if err != nil {
		return nil, err
	}
	v, err := rehearse(ctx, l, datacenter.Realistic)
	return values{"overhead": v["ready"] / path.Seconds()}, err
}

// criticalPath of a cluster without a load balancer: machines are created side by
// side, the first control plane starts etcd and its API server, and all nodes
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
	if len(levels) == 0 {
		return 0, errors.New("the cluster has no addons")
	}
	nodes := p.Create + p.Boot + p.Etcd + p.APIServer + p.NodeReady
	return nodes + time.Duration(len(levels)-1)*p.Chart, nil
}
