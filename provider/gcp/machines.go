// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"fmt"
	"strings"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
	"github.com/butlerdotdev/butler/provider/tag"
)

// machines implements provider.Machines.
type machines struct{ *platform }

var _ provider.Machines = machines{}

const (
	labelOwner     = "butler-owner-id"
	labelClusterID = "butler-cluster-id"
	// anyOwner selects everything that the driver created.
	anyOwner = "labels." + labelOwner + ":*"
)

// key is how a batch names a machine: by its owner and its name.
func key(ref provider.MachineRef) string { return ref.Owner.ID + "/" + ref.Name }

// readInstances lists the instances that have the owner, or the name, of one of the keys,
// in all zones: names are unique in a zone only.
func (p *platform) readInstances(ctx context.Context, keys []string) ([]*computepb.Instance, error) {
	var terms []string
	for _, k := range keys {
		owner, name, _ := strings.Cut(k, "/")
		if owner != "" {
			terms = append(terms, fmt.Sprintf(`(labels.%s="%s")`, labelOwner, owner))
		}
		terms = append(terms, fmt.Sprintf(`(name="%s")`, name))
	}
	return p.listInstances(ctx, strings.Join(terms, " OR "))
}

// listInstances lists the instances of all zones that a filter selects: all or an error.
func (p *platform) listInstances(ctx context.Context, filter string) (all []*computepb.Instance, err error) {
	ctx, end := p.bind(ctx)
	defer end()
	list := p.instances.AggregatedList(ctx, &computepb.AggregatedListInstancesRequest{Project: p.spec.ProjectID, Filter: &filter})
	for scope, err := range list.All() {
		if err == nil {
			err = p.unreachable(scope.Key, scope.Value.GetWarning())
		}
		if err != nil {
			return nil, err
		}
		all = append(all, scope.Value.GetInstances()...)
	}
	return all, nil
}

// unreachable is the error of a listing that lacks the region or one of its zones. Nothing of
// the platform is in others.
func (p *platform) unreachable(scope string, w *computepb.Warning) error {
	if w.GetCode() != computepb.Warning_UNREACHABLE.String() || scope != "global" && !p.inRegion(lastOf(scope)) {
		return nil
	}
	return provider.Unavailable.New("", provider.ReasonPlatformUnavailable, fmt.Errorf("%s cannot be listed: %s", scope, w.GetMessage()), cloud.HintAgain)
}

// inRegion reports whether a zone is one of the region, or the region itself.
func (p *platform) inRegion(zone string) bool {
	return zone == p.spec.Region || strings.HasPrefix(zone, p.spec.Region+"-")
}

func tagsOf(labels map[string]string) tag.Set { return tag.GCP().Read(labels) }

// original reports whether the driver created an instance with these labels: clones and
// restored backups have the labels, but another name or zone.
func original(i *computepb.Instance) bool {
	return tagsOf(i.GetLabels()).Machine == i.GetName() && i.GetLabels()[labelZone] == lastOf(i.GetZone())
}

// own reports whether the driver created the instance for the machine.
func own(i *computepb.Instance, ref provider.MachineRef) bool {
	return ref.Owner.ID != "" && tagsOf(i.GetLabels()).OwnerID == ref.Owner.ID && original(i) && i.GetName() == ref.Name
}

// pick returns the machine out of instances.
func pick(all []*computepb.Instance, ref provider.MachineRef) *computepb.Instance {
	for _, i := range all {
		if own(i, ref) {
			return i
		}
	}
	return nil
}

// ownedBy selects what carries the owner's ids; the name of the cluster decides nothing.
func ownedBy(owner provider.Owner) string {
	var terms []string
	if owner.ID != "" {
		terms = append(terms, fmt.Sprintf(`(labels.%s="%s")`, labelOwner, owner.ID))
	}
	if owner.ClusterID != "" {
		terms = append(terms, fmt.Sprintf(`(labels.%s="%s")`, labelClusterID, owner.ClusterID))
	}
	if terms == nil {
		return anyOwner
	}
	return strings.Join(terms, " ")
}
