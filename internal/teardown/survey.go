// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package teardown

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/inventory"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/selfhosted"
)

// survey finds out what will go, before anything is changed. It refuses where that
// cannot be told from what is somebody else's, and where something else would be
// left without what it needs.
func (x *destruction) survey() (inventory.Inventory, error) {
	if err := x.refuseOthers(x.Name); err != nil {
		return nil, err
	}
	found, err := x.list()
	if err == nil && x.lacks(found) != nil {
		// One look may show what was there a moment ago.
		if err = pause(x.Context(), nil, latest); err == nil {
			found, err = x.list()
		}
	}
	if err != nil {
		return nil, err
	}
	found, strangers := found.OfCluster(x.Name)
	if len(strangers) > 0 {
		return nil, sharedID(x.Name, x.id, strangers)
	}
	return found, x.refuseElsewhere(found)
}

// refuseElsewhere refuses a platform that has nothing of what is known to run: with
// the credentials of another one everything would seem to be gone.
func (x *destruction) refuseElsewhere(found inventory.Inventory) error {
	missing := x.lacks(found)
	if len(missing) == 0 || x.job.EvenIfGone {
		return nil
	}
	return failure.Usagef("%s has nothing of %s, but its plane knows of %s there; nothing was deleted; check the credentials and the namespace; if they are right, and all of that is gone for good: %s --even-if-gone",
		x.site().Place(), x.Name, some(missing), x.Command("destroy"))
}

// lacks are the requests that the platform once had something for, if it shows
// nothing for any of them. What is being deleted may be gone already, and counts
// only against credentials that nobody has used so far.
func (x *destruction) lacks(found inventory.Inventory) (missing []string) {
	for _, h := range found {
		if x.requests[h.Owner.ID].made {
			return nil
		}
	}
	if x.settled {
		return nil // it is known that they are gone
	}
	for _, r := range x.requests {
		if r.made && (!r.going || x.job.NewCredentials) {
			missing = append(missing, r.name)
		}
	}
	slices.Sort(missing)
	return missing
}

// some are names, the first few of many.
func some(names []string) string {
	const few = 5
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

// sharedID is why nothing is deleted by an id that another cluster has as well.
func sharedID(name, id string, strangers inventory.Inventory) error {
	owners := map[string]bool{}
	for _, h := range strangers {
		owners[h.Owner.Cluster] = true
	}
	return failure.Usagef("the cluster id %s is not that of %s alone: %s has %s under it; nothing was deleted; an id is given once and is in no manifest: see docs/concepts/ownership.md",
		id, name, strings.Join(slices.Sorted(maps.Keys(owners)), ", "), inventory.CountByKind(strangers.Parts()))
}

// refuseOthers refuses to take away what others on the plane need: from a cluster
// that manages itself its controllers, from a plane of this machine the
// ProviderConfig.
func (d *target) refuseOthers(name string) error {
	switch {
	case len(d.others) == 0:
		return nil
	case d.selfHosted() || selfhosted.MovedAway(d.cluster):
		return failure.Usagef("%s manages more than itself; nothing was deleted; delete that first: %s", name, some(d.others))
	}
	return failure.Usagef("ProviderConfig %s serves more than %s; nothing was deleted; delete that first: %s", d.config.Name, name, some(d.others))
}

// refuseOthersInCharge looks at the plane that is in charge.
func refuseOthersInCharge(o *operation.Operation) error {
	d, err := readTarget(o.Context(), o.Workspace, o.Client())
	if err != nil {
		return err
	}
	return d.refuseOthers(o.Name)
}

// othersOn are what is on a plane beside a cluster and would be left alone by its
// end. What is being deleted on a plane of this machine is no obstacle: the
// controllers complete that first.
func (d *target) othersOn(ctx context.Context, c client.Reader) (out []string, err error) {
	for _, kind := range []struct {
		name string
		list client.ObjectList
	}{
		{"ClusterBootstrap", &v1alpha1.ClusterBootstrapList{}},
		{"LoadBalancerRequest", &v1alpha1.LoadBalancerRequestList{}},
		{"MachineRequest", &v1alpha1.MachineRequestList{}},
	} {
		if err := c.List(ctx, kind.list); err != nil {
			return nil, err
		}
		items, err := meta.ExtractList(kind.list)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			object := item.(v1alpha1.ProviderUser)
			if !d.isOurs(object) && (d.selfHosted() || d.config != nil && object.GetDeletionTimestamp().IsZero() && object.ProviderConfig() == client.ObjectKeyFromObject(d.config)) {
				out = append(out, fmt.Sprintf("%s %s/%s", kind.name, object.GetNamespace(), object.GetName()))
			}
		}
	}
	return out, nil
}

func (d *target) selfHosted() bool { return d.cluster != nil && bootstrap.SelfHosted(d.cluster) }

// isOurs tells the cluster and its requests from everything else. An id that two
// clusters have does not make one of them.
func (d *target) isOurs(object metav1.Object) bool {
	if _, ok := object.(*v1alpha1.ClusterBootstrap); ok {
		return d.cluster != nil && object.GetUID() == d.cluster.UID
	}
	return d.id != "" && object.GetAnnotations()[v1alpha1.AnnotationClusterID] == d.id
}
