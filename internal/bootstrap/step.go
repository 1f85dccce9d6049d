// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package bootstrap takes a ClusterBootstrap from nothing to a running cluster.
// The way is a visible list of steps that is walked from the top each time;
// the first one that is not finished is where the bootstrap stands. No step
// waits: it says what stands in the way and is asked again.
package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/talos"
)

// Obstacle is what a step waits for. It has no times and no request ids, so
// that it changes only when the obstacle does.
type Obstacle struct {
	Reason  string
	Message string
	// Poll asks the step again soon: nobody reports when the obstacle is gone.
	Poll bool
}

// stable is an error's text without what differs each time: the near end of a
// broken connection.
func stable(err error) string {
	words := strings.Fields(err.Error())
	for i, w := range words {
		if _, far, ok := strings.Cut(w, "->"); ok {
			words[i] = far
		}
	}
	return strings.Join(words, " ")
}

// Failure is what no retry mends; a changed spec may.
type Failure struct{ Reason, Message string }

func (f *Failure) Error() string { return f.Message }

// Step is one part of the way.
type Step struct {
	Phase v1alpha1.ClusterBootstrapPhase
	// Run does what is missing and returns nil, or what stands in the way.
	Run func(context.Context, *Session) (*Obstacle, error)
}

// Steps is the way, from the top.
func Steps() []Step {
	return []Step{
		{v1alpha1.BootstrapPending, checkProvider},
		{v1alpha1.BootstrapProvisioningMachines, makeSecrets},
		{v1alpha1.BootstrapProvisioningMachines, requestMachines},
		{v1alpha1.BootstrapConfiguringTalos, settleEndpoint},
		{v1alpha1.BootstrapConfiguringTalos, issueTalosconfig},
		{v1alpha1.BootstrapConfiguringTalos, configureNodes},
		{v1alpha1.BootstrapBootstrappingCluster, bootstrapEtcd},
		{v1alpha1.BootstrapBootstrappingCluster, fetchKubeconfig},
		{v1alpha1.BootstrapBootstrappingCluster, awaitNodes},
	}
}

// Session is one walk along the steps for one ClusterBootstrap, whose status
// the steps fill in.
type Session struct {
	*v1alpha1.ClusterBootstrap
	Plan Plan
	// Client reads from a cache.
	Client client.Client
	// Live reads from the API server, where a stale answer would do harm.
	Live client.Reader
	// Dial opens every connection to nodes and to the new cluster.
	Dial  talos.Dialer
	Clock func() time.Time

	secrets     []byte
	talosconfig []byte
	kubeconfig  []byte
}

// Progress is where a walk ended.
type Progress struct {
	Phase    v1alpha1.ClusterBootstrapPhase
	Obstacle *Obstacle // nil: nothing is in the way any more
}

// Walk takes the steps until one is not finished. An error is a Failure, or
// something that passes by itself. Nobody has looked at the nodes before the
// last step, so that none counts as Ready until then.
func (s *Session) Walk(ctx context.Context, steps []Step) (Progress, error) {
	for i, step := range steps {
		obstacle, err := step.Run(ctx, s)
		if err != nil || obstacle != nil {
			if i < len(steps)-1 {
				s.forgetNodes()
			}
			return Progress{step.Phase, obstacle}, err
		}
	}
	return Progress{Phase: v1alpha1.BootstrapReady}, nil
}

// exchangeTimeout bounds one exchange with a node or with the new cluster.
const exchangeTimeout = 10 * time.Second

// controlPlanes are the machines of that role, in the order of the plan.
func (s *Session) controlPlanes() (out []v1alpha1.BootstrapMachineStatus) {
	for _, m := range s.Status.Machines {
		if m.Role == v1alpha1.RoleControlPlane {
			out = append(out, m)
		}
	}
	return out
}

// fromAny asks the control planes one after the other until one answers, and
// tells what the last one said if none does.
func (s *Session) fromAny(ctx context.Context, ask func(ctx context.Context, address string) error) error {
	err := errors.New("no control plane has an address")
	for _, m := range s.controlPlanes() {
		ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
		err = ask(ctx, m.IPAddress)
		cancel()
		if err == nil {
			return nil
		}
		err = fmt.Errorf("%s (%s): %w", m.Name, m.IPAddress, err)
	}
	return err
}
