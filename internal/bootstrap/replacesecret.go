// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// applySecret applies a Secret. One that cannot be updated to what is wanted is
// replaced; a refusal for any other reason is returned and changes nothing.
func (c *newCluster) applySecret(ctx context.Context, want *corev1.Secret) error {
	err := c.patchSecret(ctx, want)
	if !apierrors.IsInvalid(err) {
		return err
	}
	live, failed := c.CoreV1().Secrets(want.Namespace).Get(ctx, want.Name, metav1.GetOptions{})
	if failed != nil || !needsReplacement(live, want) {
		return err
	}
	return c.replaceSecret(ctx, live, want)
}

// needsReplacement reports whether the API server refuses the update for the type or
// the immutability of the Secret. An admission policy answers with the same code.
func needsReplacement(live, want *corev1.Secret) bool {
	if orOpaque(live.Type) != orOpaque(want.Type) {
		return true
	}
	return isImmutable(live) && (!isImmutable(want) || !maps.EqualFunc(live.Data, want.Data, slices.Equal))
}

func isImmutable(s *corev1.Secret) bool { return s.Immutable != nil && *s.Immutable }

func orOpaque(t corev1.SecretType) corev1.SecretType {
	if t == "" {
		return corev1.SecretTypeOpaque
	}
	return t
}

// replaceSecret deletes a Secret and creates its successor, which the API server has
// accepted before under another name.
func (c *newCluster) replaceSecret(ctx context.Context, live, want *corev1.Secret) error {
	secrets := c.CoreV1().Secrets(want.Namespace)
	trial := want.DeepCopy()
	trial.Name, trial.GenerateName = "", want.Name+"-"
	if _, err := secrets.Create(ctx, trial, metav1.CreateOptions{FieldManager: fieldOwner, DryRun: []string{metav1.DryRunAll}}); err != nil {
		return fmt.Errorf("secret %s/%s cannot be updated, and its replacement is refused: %w", want.Namespace, want.Name, err)
	}
	same := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &live.UID, ResourceVersion: &live.ResourceVersion}}
	if err := secrets.Delete(ctx, want.Name, same); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	return c.patchSecret(ctx, want)
}

func (c *newCluster) patchSecret(ctx context.Context, want *corev1.Secret) error {
	data, err := json.Marshal(want)
	if err != nil {
		return err
	}
	_, err = c.CoreV1().Secrets(want.Namespace).Patch(ctx, want.Name, types.ApplyPatchType, data, applied())
	return err
}
