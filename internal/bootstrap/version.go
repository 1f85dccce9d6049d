// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/talos"
)

const (
	reasonVersionMismatch   = "TalosVersionMismatch"
	reasonSchematicMismatch = "TalosSchematicMismatch"
)

// inspected is the answer of one machine, and why there is none.
type inspected struct {
	talos.Report
	err error
}

// inspect asks the machines that which selects, side by side, each in its own time.
// It returns one entry per machine of the plan; nil is one that was not asked.
func (s *Session) inspect(ctx context.Context, client *talos.Client, which func(v1alpha1.BootstrapMachineStatus) bool) []*inspected {
	nodes := make([]*inspected, len(s.Plan.Machines))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, m := range s.Status.Machines {
		if !which(m) || !isThere(m) {
			continue
		}
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, probeTimeout)
			defer cancel()
			report, err := client.Inspect(ctx, m.IPAddress)
			nodes[i] = &inspected{report, err}
			return nil
		})
	}
	_ = group.Wait()
	return nodes
}

// checkVersions fails if a machine runs another Talos than the spec asks for: the
// image decides what runs, and the spec alone what it is configured for. Once the
// cluster was Ready, Talos is upgraded on the nodes, and the spec stays behind.
func (s *Session) checkVersions(nodes []*inspected) error {
	if s.Status.Phase == v1alpha1.BootstrapReady {
		return nil
	}
	want := s.Spec.Talos.Version
	var wrong []string
	for i, n := range nodes {
		if n == nil {
			continue
		}
		if found := n.OtherThan(want); found != "" {
			m := s.Status.Machines[i]
			wrong = append(wrong, fmt.Sprintf("%s (%s) runs %s", m.Name, m.IPAddress, found))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return &Failure{Reason: reasonVersionMismatch, Message: fmt.Sprintf("%s, but spec.talos.version is %s; %s", step.Listed(wrong), want, s.versionRemedy())}
}

// versionRemedy says what to do; with a machine configured, spec.talos is immutable.
func (s *Session) versionRemedy() string {
	remedy := fmt.Sprintf("destroy the cluster and start it from an image of Talos %s", s.Spec.Talos.Version)
	if slices.ContainsFunc(s.Status.Machines, isConfigured) {
		return remedy
	}
	return remedy + ", or set spec.talos.version to the version of the image"
}

// checkRunning compares the control planes that are configured, as far as they answer:
// before Talos 1.10 no node reports its version in maintenance mode. The first one has
// to answer, since it is about to start etcd.
func (s *Session) checkRunning(ctx context.Context, client *talos.Client) error {
	nodes := s.inspect(ctx, client, func(m v1alpha1.BootstrapMachineStatus) bool {
		return m.TalosConfigured && m.Role == v1alpha1.RoleControlPlane
	})
	if first := nodes[0]; first == nil || first.Version == "" {
		return errors.New("it does not report its version")
	}
	return s.checkVersions(nodes)
}

// checkBooted compares the image of a machine that came with its configuration: nothing
// installs another one there. It fails if the image lacks an extension that an addon
// does not work without; otherwise it only records what differs.
func (s *Session) checkBooted(ctx context.Context, client *talos.Client, i int) (*Obstacle, error) {
	status := &s.Status.Machines[i]
	if status.TalosConfigured || !s.carriesUserData() {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	image, err := client.Image(ctx, status.IPAddress)
	if err != nil {
		return talosObstacle(status, false, "does not report its image: "+step.Stable(err)), nil
	}
	if err := s.checkExtensions(status.Name, image); err != nil {
		return nil, err
	}
	s.warnOfImage(i, talos.Report{Version: s.Spec.Talos.Version, Image: image})
	return nil, nil
}

// checkExtensions looks at an image of another schematic only: that of the spec has
// what it was made with. On-prem the right one is installed.
func (s *Session) checkExtensions(machine string, image talos.Image) error {
	want := s.Spec.Talos.Schematic
	if s.Spec.Provider.OnPrem() || image.Schematic == "" || image.Schematic == want || s.Status.Phase == v1alpha1.BootstrapReady {
		return nil
	}
	for _, needed := range addon.Extensions(s.Spec) {
		if !slices.Contains(image.Extensions, needed) {
			return &Failure{Reason: reasonSchematicMismatch, Message: fmt.Sprintf("machine %s was booted from an image of schematic %s, which lacks the extension %s that spec.addons needs; destroy the cluster and use an image of spec.talos.schematic %s", machine, image.Schematic, needed, want)}
		}
	}
	return nil
}

// warnOfImage records an event for a machine whose image does not fit the spec, but
// that is configured all the same.
func (s *Session) warnOfImage(i int, r talos.Report) {
	m, want := s.Status.Machines[i], s.Spec.Talos
	if found := r.OtherThan(want.Version); found != "" {
		s.warn(reasonVersionMismatch, fmt.Sprintf("machine %s runs %s, but spec.talos.version is %s; use an image of the version that the other nodes run", m.Name, found, want.Version))
	}
	if r.Schematic != "" && r.Schematic != want.Schematic {
		s.warn(reasonSchematicMismatch, fmt.Sprintf("machine %s was booted from an image of schematic %s, but spec.talos.schematic is %s: extensions of that one may be missing; use an image of it", m.Name, r.Schematic, want.Schematic))
	}
}

func (s *Session) warn(reason, message string) {
	if s.Record != nil {
		s.Record(Event{corev1.EventTypeWarning, reason, message})
	}
}
