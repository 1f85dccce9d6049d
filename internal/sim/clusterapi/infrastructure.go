// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterapi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/butlerdotdev/butler/provider"
)

// Infrastructure is what the names of programs that play an infrastructure provider begin
// with; the rest is the platform's.
const Infrastructure = "infrastructure-"

const (
	infrastructureGroup = "infrastructure.cluster.x-k8s.io"
	coreGroup           = "cluster.x-k8s.io"
	// again is when something that was not there is looked for again.
	again = time.Second
	// watchAfter is when a machine that is ready is looked at again.
	watchAfter = 10 * time.Second
)

// Platforms are the connections to platforms that infrastructure providers use: this
// project's drivers, as clients that the platform knows.
type Platforms struct {
	Providers []provider.Provider
	Transport provider.Transport
}

// RunInfrastructure plays the infrastructure provider of that name with the arguments of its
// container until ctx ends.
func RunInfrastructure(ctx context.Context, name string, args []string, e Environment, p Platforms) error {
	k, err := kindOf(strings.TrimPrefix(name, Infrastructure), p)
	if err != nil {
		return err
	}
	s, err := parse(args, e.Out)
	if err != nil {
		return err
	}
	config, err := e.open()
	if err != nil {
		return err
	}
	m, err := infrastructureManager(config, s, k.name)
	if err != nil {
		return err
	}
	if err := k.addTo(m, config); err != nil {
		return err
	}
	return m.Start(ctx)
}

func infrastructureManager(config *rest.Config, s settings, name string) (ctrl.Manager, error) {
	m, err := ctrl.NewManager(config, ctrl.Options{
		HealthProbeBindAddress: s.health, Metrics: server.Options{BindAddress: s.metrics},
		LeaderElection: s.elect, LeaderElectionID: "controller-leader-election-" + name, LeaderElectionReleaseOnCancel: true,
		LeaderElectionNamespace: s.namespace,
	})
	if err != nil {
		return nil, err
	}
	return m, m.AddReadyzCheck("ping", healthz.Ping)
}

// kind is an infrastructure provider: the kinds that it serves, and its rules.
type kind struct {
	name, prefix, version string
	// ignoresManagedBy says that it acts on externally managed clusters too.
	ignoresManagedBy bool
	// ignoresPause says that it acts on paused clusters too.
	ignoresPause bool
	// terminal says that a machine whose creation fails is not tried again.
	terminal bool
	// silent says that it has no conditions: what fails is an event.
	silent bool
	// shows returns its own condition of a moment; nil: it has the summary alone.
	shows func(moment, error) shown
	// setsNode says that it sets the provider ID of nodes itself.
	setsNode bool
	// cluster checks and completes an infrastructure cluster.
	cluster func(context.Context, *scope) error
	// connect returns the platform for the machines of a cluster.
	connect func(context.Context, *scope) (platform, error)
}

// platform is where machines are.
type platform interface {
	// ensure creates a machine, if it is not there, and returns what is known of it.
	ensure(context.Context, order) (instance, error)
	// remove returns true when nothing of the machine is left.
	remove(context.Context, order) (gone bool, err error)
}

// order is the machine that is wanted.
type order struct {
	name     string
	id       string // of the owner: the UID of the infrastructure machine
	cluster  string
	spec     map[string]any // of the infrastructure machine
	object   *unstructured.Unstructured
	zone     string
	userData []byte
}

// instance is what a platform knows of one.
type instance struct {
	providerID string
	addresses  []string
	running    bool
	message    string // what it waits for
}

// waits is what a machine that does not run waits for; nil if it runs.
func (m instance) waits() error {
	if m.running {
		return nil
	}
	return errors.New(m.message)
}

func (k kind) object(what string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(infrastructureGroup + "/" + k.version)
	u.SetKind(k.prefix + what)
	return u
}

func (k kind) addTo(m ctrl.Manager, config *rest.Config) error {
	live, err := client.New(config, client.Options{Scheme: m.GetScheme()})
	if err != nil {
		return err
	}
	clusters := &clusters{Client: live, kind: k}
	machines := &machines{Client: live, kind: k, events: m.GetEventRecorderFor("cluster-api-provider-" + k.name)} //nolint:staticcheck // the API of events that the providers use
	for what, r := range map[string]reconcilerFunc{"Cluster": clusters.Reconcile, "Machine": machines.Reconcile} {
		err := ctrl.NewControllerManagedBy(m).Named(k.name + "-" + strings.ToLower(what)).For(k.object(what)).Complete(r)
		if err != nil {
			return fmt.Errorf("add %s%s: %w", k.prefix, what, err)
		}
	}
	return nil
}

type reconcilerFunc func(context.Context, ctrl.Request) (ctrl.Result, error)

func (f reconcilerFunc) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	return f(ctx, r)
}
