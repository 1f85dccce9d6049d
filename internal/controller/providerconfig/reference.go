// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/provider"
)

// referrer is a kind that keeps a ProviderConfig.
type referrer struct {
	kind string
	one  client.Object
	all  client.ObjectList
}

// referrers begin with the kind that makes the others.
func referrers() []referrer {
	return []referrer{
		{"ClusterBootstrap", &v1alpha1.ClusterBootstrap{}, &v1alpha1.ClusterBootstrapList{}},
		{"MachineRequest", &v1alpha1.MachineRequest{}, &v1alpha1.MachineRequestList{}},
		{"LoadBalancerRequest", &v1alpha1.LoadBalancerRequest{}, &v1alpha1.LoadBalancerRequestList{}},
	}
}

// The index carries the provider's name, so that one manager can hold several.
func (r *Reconciler) byTarget() string { return string(r.Type) + ".target" }

func (r *Reconciler) index(i client.FieldIndexer) error {
	for _, k := range referrers() {
		err := i.IndexField(context.Background(), k.one, r.byTarget(), func(o client.Object) []string {
			return []string{configOf(o).String()}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// use is who refers to a ProviderConfig.
type use struct {
	first string // with its kind
	count int
	// platforms are those that the requests were taken for, each with one of them.
	platforms map[provider.Identity]string
}

// use counts who refers to the ProviderConfig.
func (r *Reconciler) use(ctx context.Context, config *v1alpha1.ProviderConfig) (u use, err error) {
	match := client.MatchingFields{r.byTarget(): client.ObjectKeyFromObject(config).String()}
	for _, k := range referrers() {
		if err := r.Client.List(ctx, k.all, match, client.UnsafeDisableDeepCopy); err != nil {
			return use{}, err
		}
		names := namesOf(k.all)
		if u.count == 0 && len(names) > 0 {
			u.first = k.kind + " " + slices.Min(names)
		}
		u.count += len(names)
		u.recorded(k)
	}
	return u, nil
}

// recorded collects the platforms of the requests of one kind.
func (u *use) recorded(k referrer) {
	_ = meta.EachListItem(k.all, func(o runtime.Object) error { // fails for what is no list only
		r := o.(client.Object)
		name := k.kind + " " + client.ObjectKeyFromObject(r).String()
		if id := request.Recorded(r); id != "" && (u.platforms[id] == "" || name < u.platforms[id]) {
			if u.platforms == nil {
				u.platforms = map[provider.Identity]string{}
			}
			u.platforms[id] = name
		}
		return nil
	})
}

// elsewhere is why nothing is done for requests that are on another platform than
// the one that answers.
func (u use) elsewhere(config *v1alpha1.ProviderConfig, now provider.Identity) error {
	for _, id := range slices.Sorted(maps.Keys(u.platforms)) {
		if id.Compare(now) == provider.Different {
			return request.Changed(fmt.Sprintf("use ProviderConfig %q for %s", config.Name, u.platforms[id]), id, now)
		}
	}
	return nil
}

func namesOf(list client.ObjectList) (names []string) {
	_ = meta.EachListItem(list, func(o runtime.Object) error { // fails for what is no list only
		names = append(names, client.ObjectKeyFromObject(o.(client.Object)).String())
		return nil
	})
	return names
}

// refused is why a ProviderConfig that is to be deleted is still there.
func (u use) refused(config *v1alpha1.ProviderConfig) error {
	others := "refers to it"
	if u.count > 1 {
		others = fmt.Sprintf("and %d more refer to it", u.count-1)
	}
	return &provider.Error{
		Kind: provider.Invalid, Reason: "InUse", Op: fmt.Sprintf("delete ProviderConfig %q", config.Name),
		Err: fmt.Errorf("%s %s", u.first, others), Hint: "it goes with the last of them",
	}
}

func ofReferrer(_ context.Context, o client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: configOf(o)}}
}

// configOf returns the ProviderConfig of an object of one of the referrers' kinds.
func configOf(o client.Object) (name types.NamespacedName) {
	if u, ok := o.(v1alpha1.ProviderUser); ok {
		name = u.ProviderConfig()
	}
	return name
}
