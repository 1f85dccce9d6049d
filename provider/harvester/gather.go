// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
	"github.com/butlerdotdev/butler/provider/tag"
)

const (
	// gatherFor is how long reads that follow another one of their kind are gathered.
	gatherFor = 100 * time.Millisecond
	// mostOwners is how many machines one request selects: their ids are part of its URL.
	mostOwners = 100
)

// gathered are reads that many machines share: those of one kind that come at the same time
// are answered with one request, which selects the objects of their owners. Nothing is
// remembered. Of the zero value each read is a request.
type gathered struct {
	identity *cloud.Batch[provider.Identity]
	kinds    map[reflect.Type]*cloud.Batch[byName]
}

// byName are the objects of a listing.
type byName map[string]client.Object

func newGathered(m *machines) gathered {
	g := gathered{kinds: map[reflect.Type]*cloud.Batch[byName]{}}
	g.identity = cloud.NewBatch(mostOwners, func(ctx context.Context, _ []string) (provider.Identity, error) { return m.readMarks(ctx, 1) }).Apart(gatherFor)
	for kind, list := range map[client.Object]func() client.ObjectList{
		&kubevirtv1.VirtualMachine{}:         func() client.ObjectList { return &kubevirtv1.VirtualMachineList{} },
		&kubevirtv1.VirtualMachineInstance{}: func() client.ObjectList { return &kubevirtv1.VirtualMachineInstanceList{} },
		&corev1.PersistentVolumeClaim{}:      func() client.ObjectList { return &corev1.PersistentVolumeClaimList{} },
	} {
		g.kinds[reflect.TypeOf(kind)] = cloud.NewBatch(mostOwners, func(ctx context.Context, owners []string) (byName, error) {
			return m.ofOwners(ctx, list(), owners)
		}).Apart(gatherFor)
	}
	return g
}

// ofOwners lists the objects of several owners. Those of one are read by their names.
func (m *machines) ofOwners(ctx context.Context, list client.ObjectList, owners []string) (byName, error) {
	slices.Sort(owners)
	if owners = slices.Compact(owners); len(owners) < 2 {
		return nil, nil
	}
	among, err := labels.NewRequirement(tag.OwnerID, selection.In, owners)
	if err != nil {
		return nil, err
	}
	match := client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*among)}
	if err := m.api.List(ctx, list, client.InNamespace(m.spec.Namespace), match); err != nil {
		return nil, err
	}
	found := byName{}
	return found, meta.EachListItem(list, func(o runtime.Object) error {
		found[o.(client.Object).GetName()] = o.(client.Object)
		return nil
	})
}

// find is get for many calls at the same time. A machine that their listing lacks is read by
// itself: its absence is not taken from a listing.
func find[T client.Object](ctx context.Context, m *machines, o T, owner provider.Owner) (none T, err error) {
	known, listed := m.gathered.find(ctx, o, owner.ID)
	if known, ok := known.(T); ok && owned(known, owner) {
		return known, nil
	}
	if _, instance := client.Object(o).(*kubevirtv1.VirtualMachineInstance); instance && listed {
		return none, nil // get finds it by the same labels
	}
	return get(ctx, m, o, owner)
}

// find returns the object of that kind and name, nil if there is none among those listed.
// Otherwise nothing was listed.
func (g gathered) find(ctx context.Context, o client.Object, owner string) (found client.Object, listed bool) {
	kind, ok := g.kinds[reflect.TypeOf(o)]
	if !ok || owner == "" {
		return nil, false
	}
	all, err := kind.Do(ctx, owner) // what reads the object itself reports the error
	return all[o.GetName()], err == nil && all != nil
}
