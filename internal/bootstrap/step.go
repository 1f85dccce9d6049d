// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package bootstrap takes a ClusterBootstrap from nothing to a running cluster.
// The way is a visible list of steps that is walked from the top each time;
// the first one that is not finished is its state. No step waits: it returns what
// blocks it and is run again.
package bootstrap

import (
	"context"
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon/install"
	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/talos"
)

// Obstacle is what a step waits for.
type Obstacle = step.Obstacle

// ErrChanged ends a walk that is about a ClusterBootstrap of the past. Another one
// is due at once.
var ErrChanged = errors.New("the ClusterBootstrap has changed")

// Failure is an error that no retry fixes; a changed spec may.
type Failure = step.Failure

// Step is one part of the way.
type Step struct {
	Phase v1alpha1.ClusterBootstrapPhase
	// Run does what is missing and returns nil, or what blocks it.
	Run func(context.Context, *Session) (*Obstacle, error)
}

// Steps returns the steps of a bootstrap in their order. Until kube-vip runs, its address does
// not answer, and neither do machines that join through it: no step before
// awaitEndpoint waits for a worker, or for a second member of etcd. Nodes become
// Ready with the pod network, which is an addon: addons are started before. In a cloud
// machines are requested with their configuration, which has the name of the load
// balancer in it.
func Steps() []Step {
	return []Step{
		{v1alpha1.BootstrapPending, renewCredentials},
		{v1alpha1.BootstrapPending, checkProvider},
		{v1alpha1.BootstrapPending, readRegistries},
		{v1alpha1.BootstrapPending, reserveAddresses},
		{v1alpha1.BootstrapProvisioningMachines, checkSecrets},
		{v1alpha1.BootstrapProvisioningMachines, requestLoadBalancer},
		{v1alpha1.BootstrapProvisioningMachines, prepareUserData},
		{v1alpha1.BootstrapProvisioningMachines, requestMachines},
		{v1alpha1.BootstrapProvisioningMachines, replaceMachine},
		{v1alpha1.BootstrapProvisioningMachines, removeWorkers},
		{v1alpha1.BootstrapProvisioningMachines, registerTargets},
		{v1alpha1.BootstrapProvisioningMachines, makeSecrets},
		{v1alpha1.BootstrapProvisioningMachines, awaitMachines},
		{v1alpha1.BootstrapProvisioningMachines, awaitLoadBalancer},
		{v1alpha1.BootstrapConfiguringTalos, settleEndpoint},
		{v1alpha1.BootstrapConfiguringTalos, issueTalosconfig},
		{v1alpha1.BootstrapConfiguringTalos, configureNodes},
		{v1alpha1.BootstrapBootstrappingCluster, bootstrapEtcd},
		{v1alpha1.BootstrapBootstrappingCluster, fetchKubeconfig},
		{v1alpha1.BootstrapBootstrappingCluster, awaitKubernetes},
		{v1alpha1.BootstrapBootstrappingCluster, identifyNodes},
		{v1alpha1.BootstrapBootstrappingCluster, addLoopback},
		{v1alpha1.BootstrapInstallingAddons, installKubeVIP},
		{v1alpha1.BootstrapInstallingAddons, installAddons},
		{v1alpha1.BootstrapInstallingAddons, awaitEndpoint},
		{v1alpha1.BootstrapInstallingAddons, finishNodes},
		{v1alpha1.BootstrapInstallingAddons, awaitNodes},
		{v1alpha1.BootstrapInstallingAddons, awaitAddons},
		{v1alpha1.BootstrapInstallingAddons, awaitHealth},
		{v1alpha1.BootstrapInstallingAddons, handOver},
		{v1alpha1.BootstrapPivoting, awaitPivot},
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
	Dial talos.Dialer
	// Addons puts addons on the new cluster, beside the walk.
	Addons *install.Installer
	// Digests pin the images of this version's controllers, by name; others are found by tag.
	Digests map[string]string
	Clock   func() time.Time
	// NewSecrets generates the keys of a cluster of this Talos version; nil means
	// talos.NewSecrets.
	NewSecrets func(talosVersion string) ([]byte, error)
	// Interrupted, if set, is asked before each step; its error ends the walk.
	Interrupted func(context.Context) error
	// Record, if set, records what happened to a machine, besides what the status says.
	Record func(Event)

	// What steps leave to later ones, by the steps that set it.
	provider   *v1alpha1.ProviderConfig // set by checkProvider
	registries registryResults          // set by readRegistries
	machines   machineResults           // set by requestMachines
	endpoint   endpointResults          // set by requestLoadBalancer and addLoopback
	access     accessResults            // set by prepareUserData, makeSecrets and issueTalosconfig
	kubernetes kubernetesResults        // set by fetchKubeconfig, awaitKubernetes and awaitNodes
	addons     addonResults             // set by installAddons
	deferred   *Obstacle                // concerns a machine, but blocks no step
}

// machineResults are about the machines of the plan, in its order.
type machineResults struct {
	before          []v1alpha1.BootstrapMachineStatus // as they were before this walk
	requests        []*v1alpha1.MachineRequest        // nil is one that is gone
	nodeProviderIDs []string                          // that kubelets get, as far as they are known
	pending         *Obstacle                         // what those wait for that do not run
	withheld        []string                          // names of machines that are not requested yet
	surplus         []*v1alpha1.MachineRequest        // of workers that the plan does not have
}

// endpointResults are about the load balancer of the control plane.
type endpointResults struct {
	request      *v1alpha1.LoadBalancerRequest // nil: there is none, or it is gone
	loadBalancer string                        // its endpoint, if it has one
	waiting      *Obstacle                     // what others wait for before they have it
}

// accessResults are the keys of the nodes, and the connection that they open.
type accessResults struct {
	secrets     []byte
	talosconfig []byte
	client      *talos.Client
}

// kubernetesResults are about the new API server.
type kubernetesResults struct {
	kubeconfig []byte
	expired    string      // why a kubeconfig that is not accepted any more is not renewed
	cluster    *newCluster // the connection, to one control plane
	nodesSeen  bool        // the nodes were read in this walk
}

// addonResults are about the addons.
type addonResults struct {
	complete bool // the installer has reported on each of them
}

// Progress is where a walk ended.
type Progress struct {
	Phase    v1alpha1.ClusterBootstrapPhase
	Obstacle *Obstacle // nil: nothing blocks it
}

// Walk runs the steps until one is not finished. An error is a Failure, or
// something that passes by itself.
func (s *Session) Walk(ctx context.Context, steps []Step) (Progress, error) {
	defer s.disconnect()
	for _, next := range steps {
		obstacle, err := s.take(ctx, next)
		if err != nil {
			return Progress{Phase: next.Phase}, err
		}
		if obstacle != nil {
			s.lookAtNodes(ctx)
			return Progress{next.Phase, s.failingAddonFirst(s.mostRelevant(obstacle))}, nil
		}
	}
	return Progress{v1alpha1.BootstrapReady, s.deferred}, nil
}

// mostRelevant returns the obstacle to report: a deferred one explains most of what
// comes after, unless it is less urgent.
func (s *Session) mostRelevant(o *Obstacle) *Obstacle {
	if s.deferred == nil || o.Urgent && !s.deferred.Urgent {
		return o
	}
	deferred := *s.deferred
	deferred.Poll = deferred.Poll || o.Poll
	return &deferred
}

func (s *Session) take(ctx context.Context, next Step) (*Obstacle, error) {
	if s.Interrupted != nil {
		if err := s.Interrupted(ctx); err != nil {
			return nil, err
		}
	}
	return next.Run(ctx, s)
}
