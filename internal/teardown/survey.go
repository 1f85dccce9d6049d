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

// survey returns what will be deleted, before anything is changed. It refuses if that
// cannot be distinguished from another owner's objects, and if other objects need it.
func (x *destruction) survey() (inventory.Inventory, error) {
	if err := x.refuseOthers(x.Name); err != nil {
		return nil, err
	}
	found, err := x.list()
	if err == nil && x.missing(found) != nil {
		// One list may be stale.
		if err = pause(x.Context(), nil, maxPause); err == nil {
			found, err = x.list()
		}
	}
	if err != nil {
		return nil, err
	}
	found, foreign := found.OfCluster(x.Name)
	if len(foreign) > 0 {
		return nil, sharedIDError(x.Name, x.id, foreign)
	}
	return found, x.refuseElsewhere(found)
}

// refuseElsewhere refuses a platform that has none of the known machines: with the
// credentials of another platform everything would seem to be gone.
func (x *destruction) refuseElsewhere(found inventory.Inventory) error {
	missing := x.missing(found)
	if len(missing) == 0 || x.job.EvenIfGone {
		return nil
	}
	return failure.Usagef("%s lists nothing of %s, but its plane has recorded %s there; nothing was deleted; check the credentials and the namespace; if they are right, and all of that is gone for good: %s --even-if-gone",
		x.site().Place(), x.Name, firstFew(missing), x.Command("destroy"))
}

// missing returns the requests that the platform once had objects for, if it now shows
// none for any of them. Requests that are being deleted count only with new
// credentials.
func (x *destruction) missing(found inventory.Inventory) (missing []string) {
	for _, h := range found {
		if x.requests[h.Owner.ID].hadObjects {
			return nil
		}
	}
	if x.settled {
		return nil // they are confirmed to be gone
	}
	for _, r := range x.requests {
		if r.hadObjects && (!r.deleting || x.job.NewCredentials) {
			missing = append(missing, r.name)
		}
	}
	slices.Sort(missing)
	return missing
}

// firstFew joins names, at most five of them.
func firstFew(names []string) string {
	const few = 5
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

// sharedIDError refuses a cluster id that another cluster has as well.
func sharedIDError(name, id string, foreign inventory.Inventory) error {
	owners := map[string]bool{}
	for _, h := range foreign {
		owners[h.Owner.Cluster] = true
	}
	return failure.Usagef("the cluster id %s does not belong to %s alone: %s has %s with it; nothing was deleted; an id is generated once and is never part of a manifest: see docs/concepts/ownership.md",
		id, name, strings.Join(slices.Sorted(maps.Keys(owners)), ", "), inventory.CountByKind(foreign.Parts()))
}

// refuseOthers refuses to delete what other objects on the plane need: the controllers
// of a cluster that manages itself, or the ProviderConfig of a plane of this machine.
func (d *target) refuseOthers(name string) error {
	switch {
	case len(d.others) == 0:
		return nil
	case d.selfHosted() || selfhosted.MovedAway(d.cluster):
		return failure.Usagef("%s manages more than itself; nothing was deleted; delete that first: %s", name, firstFew(d.others))
	}
	return failure.Usagef("ProviderConfig %s is used by more than %s; nothing was deleted; delete that first: %s", d.config.Name, name, firstFew(d.others))
}

// refuseOthersInCharge is refuseOthers for the plane that is in charge.
func refuseOthersInCharge(o *operation.Operation) error {
	d, err := readTarget(o.Context(), o.Workspace, o.Client())
	if err != nil {
		return err
	}
	return d.refuseOthers(o.Name)
}

// othersOn lists objects on a plane that would lose their ProviderConfig or controllers
// with the cluster. Objects that are being deleted on a plane of this machine are no
// obstacle: the controllers complete that first.
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

// isOurs reports whether an object is the cluster or one of its requests. Another
// cluster with the same id is not.
func (d *target) isOurs(object metav1.Object) bool {
	if _, ok := object.(*v1alpha1.ClusterBootstrap); ok {
		return d.cluster != nil && object.GetUID() == d.cluster.UID
	}
	return d.id != "" && object.GetAnnotations()[v1alpha1.AnnotationClusterID] == d.id
}
