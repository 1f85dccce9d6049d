// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"maps"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

// machines implements provider.Machines.
type machines struct {
	api    client.WithWatch
	spec   v1alpha1.HarvesterSpec
	config string
	// identity is that of the Harvester cluster, as far as it may be read.
	identity provider.Identity
	// pooled says that addresses of machines come from NetworkPools.
	pooled bool
	// recent is what many machines refer to, and gathered are reads that they share.
	recent   recent
	gathered gathered
	// insecure: the kubeconfig accepts any certificate.
	insecure bool
}

func rootName(machine string) string { return machine + "-root" }

func diskName(machine string, i int) string { return machine + "-disk-" + strconv.Itoa(i+1) }

func secretName(machine string) string { return machine + "-cloudinit" }

// owned reports whether the driver created an object for the owner.
func owned(o client.Object, owner provider.Owner) bool {
	return owner.ID != "" && tagsOf(o).OwnerID == owner.ID && original(o)
}

func tagsOf(o client.Object) tag.Set { return tag.Style{}.Read(o.GetLabels()) }

func (m *machines) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: m.spec.Namespace, Name: name}
}

// get reads an object of ours; nil means that it is missing or has another owner.
func get[T client.Object](ctx context.Context, m *machines, o T, owner provider.Owner) (T, error) {
	var none T
	err := m.api.Get(ctx, client.ObjectKeyFromObject(o), o)
	if err != nil {
		return none, client.IgnoreNotFound(err)
	}
	if !owned(o, owner) {
		return none, nil
	}
	return o, nil
}

func sorted(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }
