// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package gather collects the facts about a cluster: from the plane in charge, the Talos API
// of its nodes, and its Kubernetes API. It changes nothing.
package gather

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/deployed"
	"github.com/butlerdotdev/butler/internal/diagnosis"
	"github.com/butlerdotdev/butler/internal/selfhosted"
	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/workspace"
)

// patience bounds all questions to nodes and to the cluster.
const patience = 15 * time.Second

// gatherer collects the facts about one cluster.
type gatherer struct {
	workspace.Workspace
	plane   client.Client // in charge, or that of this machine if the one in charge is silent
	cluster *v1alpha1.ClusterBootstrap
	config  *v1alpha1.ProviderConfig
	facts   diagnosis.Facts
}

// Facts returns the facts about the cluster of a workspace. What does not answer is a fact
// itself; an error is one of this machine.
func Facts(ctx context.Context, w workspace.Workspace) (diagnosis.Facts, error) {
	g := &gatherer{Workspace: w, facts: diagnosis.Facts{Cluster: w.Name, Rehearsal: w.Rehearsal, Time: time.Now()}}
	g.facts.Plane.Holder = w.Holder()
	if w.Rehearsal {
		_, _, running := sim.Running(w.SimDir())
		g.facts.Plane.SimulatorStopped = !running
	}
	err := selfhosted.ReadInCharge(ctx, w, func(c client.Client, cb *v1alpha1.ClusterBootstrap, silent error) error {
		return g.read(ctx, c, cb, silent)
	})
	return g.facts, err
}

// Logs returns the ends of the logs of the services of Talos, by node and service. What could
// not be read is its text.
func Logs(ctx context.Context, w workspace.Workspace, c client.Client, cb *v1alpha1.ClusterBootstrap) map[string][]byte {
	g := &gatherer{Workspace: w, plane: c, cluster: cb}
	dial, err := g.NewDialer()
	if err != nil || g.platform(ctx) != nil || g.config == nil {
		return nil
	}
	s := &bootstrap.Session{ClusterBootstrap: cb, Client: c, Live: c, Dial: dial, Clock: time.Now}
	views, err := s.ViewNodes(ctx, g.config, g.machineRequests(ctx))
	if err != nil {
		return nil
	}
	out := map[string][]byte{}
	for _, l := range s.Logs(ctx, views) {
		if l.Err != nil {
			l.Text = []byte(l.Err.Error() + "\n")
		}
		out[l.Node+"/"+l.Service] = l.Text
	}
	return out
}

// OfPlane returns the facts of a plane whose controllers the caller runs, and of the nodes
// that a dialer reaches. The Kubernetes API of the cluster is not asked.
func OfPlane(ctx context.Context, c client.Client, cb *v1alpha1.ClusterBootstrap, dial workspace.Dialer) (diagnosis.Facts, error) {
	g := &gatherer{Workspace: workspace.Workspace{Name: cb.Spec.Cluster.Name}, plane: c, cluster: &v1alpha1.ClusterBootstrap{}}
	g.facts = diagnosis.Facts{Cluster: g.Name, Time: time.Now(), Plane: diagnosis.Plane{Holder: "the caller"}}
	if err := c.Get(ctx, client.ObjectKeyFromObject(cb), g.cluster); err != nil {
		return g.facts, err
	}
	g.facts.Commands = diagnosis.Commands{Bootstrap: "butleradm bootstrap", Status: "butleradm status", Destroy: "butleradm destroy"}
	if err := g.readPlane(ctx); err != nil {
		return g.facts, err
	}
	g.askNodes(ctx, dial)
	return g.facts, nil
}

func (g *gatherer) readPlane(ctx context.Context) error {
	for _, part := range []func(context.Context) error{g.bootstrap, g.platform, g.requests, g.events} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (g *gatherer) read(ctx context.Context, c client.Client, cb *v1alpha1.ClusterBootstrap, silent error) error {
	g.plane, g.cluster = c, cb
	g.commands()
	if cb == nil {
		return nil
	}
	if silent != nil {
		g.facts.Plane.Silent = silent.Error()
	}
	if err := g.readPlane(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	g.nodes(ctx)
	g.kubernetes(ctx)
	return nil
}

// commands are what the remedies name.
func (g *gatherer) commands() {
	provider := "PROVIDER"
	if g.cluster != nil {
		provider = string(g.cluster.Spec.Provider)
	}
	command := strings.Replace(g.Command("bootstrap"), "bootstrap "+g.Name, fmt.Sprintf("bootstrap %s -c FILE", provider), 1)
	if g.Rehearsal && !strings.Contains(command, "--rehearse") {
		command += " --rehearse"
	}
	g.facts.Commands = diagnosis.Commands{Bootstrap: command, Status: g.Command("status"), Destroy: g.Command("destroy")}
}

func (g *gatherer) bootstrap(ctx context.Context) error {
	cb := g.cluster
	o := diagnosis.Object{
		Kind: "ClusterBootstrap", Name: cb.Name, Phase: string(cb.Status.Phase), Address: cb.Status.ControlPlaneEndpoint,
		Paused: cb.Spec.Paused, Deleting: cb.DeletionTimestamp != nil, Changed: cb.Status.LastUpdated, Conditions: cb.Status.Conditions,
	}
	g.facts.Bootstrap, g.facts.Machines, g.facts.Addons = &o, cb.Status.Machines, cb.Status.Addons
	p := &g.facts.Plane
	p.SelfHosted = bootstrap.SelfHosted(cb)
	if p.Silent != "" {
		p.SelfHosted = true
		return nil
	}
	p.Fenced = cb.Annotations[v1alpha1.AnnotationFenced]
	if !p.SelfHosted {
		return nil
	}
	stopped, err := deployed.AnyStopped(ctx, g.plane)
	p.Stopped = stopped
	return err
}
