// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/manifest"
)

// fieldOwner is the field manager of what commands apply.
const fieldOwner = "butleradm"

// refuseForeign refuses a manifest for a plane of the user that would leave the
// namespace of the cluster, or overwrite a Secret there.
func (o *Operation) refuseForeign(ctx context.Context, m *manifest.Manifest) error {
	r := o.Plane()
	if !r.OfUser() || o.InCharge() == ClusterPlane {
		return nil
	}
	for _, name := range m.Namespaces() {
		if name != r.Namespace {
			return failure.Usagef("the plane of %s is %s, and the manifest has objects in namespace %s, too; put all of them into one", o.Name, r, name)
		}
	}
	var keys []client.ObjectKey
	if key, referred := m.CredentialsKey(); referred {
		keys = append(keys, key)
	}
	for _, other := range m.Others {
		keys = append(keys, client.ObjectKeyFromObject(other))
	}
	for _, key := range keys {
		if err := o.refuseForeignSecret(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

func (o *Operation) refuseForeignSecret(ctx context.Context, key client.ObjectKey) error {
	found := &corev1.Secret{}
	err := o.Local.Get(ctx, key, found)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil || slices.ContainsFunc(found.ManagedFields, func(f metav1.ManagedFieldsEntry) bool { return f.Manager == fieldOwner }) {
		return err
	}
	return failure.Usagef("Secret %s already exists on the plane, and butleradm did not create it; rename the one in the manifest", key)
}
