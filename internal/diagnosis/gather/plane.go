// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"context"
	"slices"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/diagnosis"
)

// platform reads the ProviderConfig.
func (g *gatherer) platform(ctx context.Context) error {
	g.config = &v1alpha1.ProviderConfig{}
	if err := g.plane.Get(ctx, g.cluster.ProviderConfig(), g.config); err != nil {
		g.config = nil
		return client.IgnoreNotFound(err)
	}
	c := g.config
	p := &diagnosis.Platform{
		Object:   diagnosis.Object{Kind: "ProviderConfig", Name: c.Name, Conditions: c.Status.Conditions, Changed: c.Status.LastProbeTime},
		Provider: c.Spec.Provider, Endpoint: c.Spec.Endpoint(), Expires: c.Status.CredentialsExpire,
	}
	if c.Spec.CredentialsRef != nil {
		p.Secret = c.CredentialsSecret().String()
	}
	for _, o := range c.Status.Orphans {
		switch {
		case o.ClusterID != g.cluster.Annotations[v1alpha1.AnnotationClusterID]:
		case o.Kind == v1alpha1.OrphanCopy:
			p.Copies = append(p.Copies, o.Name)
		default:
			p.Orphans = append(p.Orphans, o.Name)
		}
	}
	g.facts.Platform = p
	return nil
}

// requests reads the requests and allocations of the cluster.
func (g *gatherer) requests(ctx context.Context) error {
	own := []client.ListOption{client.InNamespace(g.cluster.Namespace), client.MatchingLabels{v1alpha1.LabelClusterBootstrap: g.cluster.Name}}
	var machines v1alpha1.MachineRequestList
	if err := g.plane.List(ctx, &machines, own...); err != nil {
		return err
	}
	for _, m := range machines.Items {
		g.add("MachineRequest", &m, diagnosis.Object{Phase: string(m.Status.Phase), Address: m.Status.IPAddress, Changed: m.Status.LastUpdated, Conditions: m.Status.Conditions})
	}
	var balancers v1alpha1.LoadBalancerRequestList
	if err := g.plane.List(ctx, &balancers, own...); err != nil {
		return err
	}
	for _, b := range balancers.Items {
		g.add("LoadBalancerRequest", &b, diagnosis.Object{Phase: string(b.Status.Phase), Address: b.Status.Endpoint, Changed: b.Status.LastUpdated, Conditions: b.Status.Conditions})
	}
	return g.addresses(ctx, own)
}

func (g *gatherer) addresses(ctx context.Context, own []client.ListOption) error {
	var allocations v1alpha1.IPAllocationList
	if err := g.plane.List(ctx, &allocations, own...); err != nil {
		return err
	}
	var pools []string
	for _, a := range allocations.Items {
		pools = append(pools, a.Spec.PoolRef.Name)
		g.add("IPAllocation", &a, diagnosis.Object{Phase: string(a.Status.Phase), Address: a.Status.StartAddress, Conditions: a.Status.Conditions})
	}
	if len(pools) == 0 {
		return nil
	}
	var all v1alpha1.NetworkPoolList
	if err := g.plane.List(ctx, &all); err != nil {
		return err
	}
	for _, p := range all.Items {
		if slices.Contains(pools, p.Name) {
			g.add("NetworkPool", &p, diagnosis.Object{Conditions: p.Status.Conditions})
		}
	}
	return nil
}

func (g *gatherer) add(kind string, o client.Object, fact diagnosis.Object) {
	fact.Kind, fact.Name, fact.Deleting = kind, o.GetName(), o.GetDeletionTimestamp() != nil
	g.facts.Requests = append(g.facts.Requests, fact)
}

// maxEvents is how many warnings are kept, the last ones.
const maxEvents = 60

// events reads the warnings about objects of the cluster on the plane.
func (g *gatherer) events(ctx context.Context) error {
	known := map[string]bool{"ClusterBootstrap/" + g.cluster.Name: true}
	for _, o := range g.facts.Requests {
		known[o.ID()] = true
	}
	return g.warnings(ctx, g.plane, func(e eventsv1.Event) (string, bool) {
		id := e.Regarding.Kind + "/" + e.Regarding.Name
		return id, known[id]
	}, client.InNamespace(g.cluster.Namespace))
}

// warnings keeps the last warnings of a plane that are about something known.
func (g *gatherer) warnings(ctx context.Context, c client.Client, id func(eventsv1.Event) (string, bool), options ...client.ListOption) error {
	var list eventsv1.EventList
	if err := c.List(ctx, &list, options...); err != nil {
		return err
	}
	slices.SortFunc(list.Items, func(a, b eventsv1.Event) int { return timeOf(a).Compare(timeOf(b).Time) })
	var out []diagnosis.Event
	for _, e := range list.Items {
		if object, known := id(e); known && e.Type == "Warning" {
			out = append(out, diagnosis.Event{Object: object, Reason: e.Reason, Note: e.Note, Time: timeOf(e)})
		}
	}
	g.facts.Events = append(g.facts.Events, out[max(0, len(out)-maxEvents):]...)
	return nil
}

// timeOf is when an event last happened.
func timeOf(e eventsv1.Event) metav1.Time {
	switch {
	case e.Series != nil:
		return metav1.NewTime(e.Series.LastObservedTime.Time)
	case !e.EventTime.IsZero():
		return metav1.NewTime(e.EventTime.Time)
	case !e.DeprecatedLastTimestamp.IsZero():
		return e.DeprecatedLastTimestamp
	}
	return e.CreationTimestamp
}
