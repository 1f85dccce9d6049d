// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/manifest"
)

// Pair is an object of a manifest and what the plane makes of it.
type Pair struct {
	// Kind and Name of the object.
	Kind, Name string
	// Now is the object on the plane; nil if there is none.
	Now client.Object
	// Then is what it would be. If the plane refuses it, it is the object of the manifest.
	Then client.Object
	// Refused is why the plane does not accept the change.
	Refused []manifest.Problem
}

// Pairs compares the objects of a manifest, but for its Secrets, with those of a plane. The
// plane tries the change and keeps nothing of it.
func Pairs(ctx context.Context, c client.Client, m *manifest.Manifest) (out []Pair, err error) {
	for _, wanted := range append(poolsOf(m), m.Provider, m.Cluster) {
		p, err := pair(ctx, c, m, wanted)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func pair(ctx context.Context, c client.Client, m *manifest.Manifest, wanted client.Object) (Pair, error) {
	kind, err := c.GroupVersionKindFor(wanted)
	if err != nil {
		return Pair{}, err
	}
	p := Pair{Kind: kind.Kind, Name: wanted.GetName(), Now: wanted.DeepCopyObject().(client.Object), Then: wanted.DeepCopyObject().(client.Object)}
	err = c.Get(ctx, client.ObjectKeyFromObject(wanted), p.Now)
	if apierrors.IsNotFound(err) {
		p.Now = nil
	} else if err != nil {
		return p, err
	}
	err = put(ctx, c, p.Then, client.DryRunAll)
	if err == nil || !apierrors.IsInvalid(err) {
		return p, err
	}
	p.Then, p.Refused = wanted, refusals(m, wanted, err)
	return p, nil
}
