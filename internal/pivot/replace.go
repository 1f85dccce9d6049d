// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pivot

import (
	"context"
	"errors"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// needsReplacement reports whether an update was refused for a field that cannot
// change. An admission policy answers with the same code, and names no field.
func needsReplacement(want, live *unstructured.Unstructured, err error) bool {
	if !apierrors.IsInvalid(err) {
		return false
	}
	switch want.GetKind() {
	case providerKind, butlerKind:
		return false
	case secretKind:
		return secretType(want) != secretType(live) || isImmutable(live) && (!isImmutable(want) || !reflect.DeepEqual(want.Object["data"], live.Object["data"]))
	}
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && status.ErrStatus.Details != nil && slices.ContainsFunc(status.ErrStatus.Details.Causes, namesField)
}

func namesField(c metav1.StatusCause) bool { return c.Field != "" }

func isImmutable(secret *unstructured.Unstructured) bool {
	is, _, _ := unstructured.NestedBool(secret.Object, "immutable")
	return is
}

func secretType(secret *unstructured.Unstructured) string {
	if t, _, _ := unstructured.NestedString(secret.Object, "type"); t != "" {
		return t
	}
	return string(corev1.SecretTypeOpaque)
}

// replace removes an object and creates it again. All that a ClusterBootstrap fences
// is removed before it. Nothing is removed unless To accepts the new object under
// another name.
func (r *run) replace(ctx context.Context, from, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if err := r.accepted(ctx, from); err != nil {
		return live, err
	}
	if from.GetKind() == bootstrapKind {
		if err := r.removeFollowers(ctx); err != nil {
			return live, err
		}
	}
	if err := r.remove(ctx, r.to, live); err != nil {
		return live, err
	}
	return r.create(ctx, from)
}

func (r *run) accepted(ctx context.Context, from *unstructured.Unstructured) error {
	trial := r.wanted(from, nil)
	trial.SetName("")
	trial.SetGenerateName(from.GetName() + "-")
	return r.to.Client.Create(ctx, trial, fieldOwner, client.DryRunAll)
}
