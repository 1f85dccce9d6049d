// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package selfhosted

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/operation"
)

// annotationCheckRequested is when a check of the credentials of a cluster's own
// controllers was last requested: they use a changed Secret at once.
const annotationCheckRequested = v1alpha1.Group + "/asked"

// checkInterval is how long the controllers have for an answer before the check is
// requested again: they may have read the Secret before the condition was reset.
const checkInterval = 2 * time.Second

// login checks that a cluster's own controllers can log in to the platform. Results from
// before the check do not count.
type login struct {
	client    client.Client
	key       client.ObjectKey // of the ProviderConfig
	requested time.Time
}

// check returns an error until the controllers have logged in to the platform.
func (l *login) check(ctx context.Context) error {
	config := &v1alpha1.ProviderConfig{}
	if err := l.client.Get(ctx, l.key, config); err != nil {
		return err
	}
	if l.requested.IsZero() {
		if err := l.resetCondition(ctx, config); err != nil {
			return err
		}
	}
	ready := meta.FindStatusCondition(config.Status.Conditions, v1alpha1.ConditionReady)
	switch {
	case ready == nil || ready.ObservedGeneration != config.Generation || ready.Reason == operation.ReasonChecking:
		if err := l.requestCheck(ctx, config); err != nil {
			return err
		}
		return errors.New("the cluster's own provider controller has not connected to the platform yet")
	case ready.Status != metav1.ConditionTrue:
		return fmt.Errorf("the cluster's own provider controller cannot log in to the platform: %s", ready.Message)
	}
	return nil
}

// resetCondition marks the condition of the controllers as not checked yet.
func (l *login) resetCondition(ctx context.Context, config *v1alpha1.ProviderConfig) error {
	before := client.MergeFromWithOptions(config.DeepCopy(), client.MergeFromWithOptimisticLock{})
	meta.SetStatusCondition(&config.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionUnknown, Reason: operation.ReasonChecking,
		Message: "the platform is checked again before the plane moves here", ObservedGeneration: config.Generation,
	})
	return l.client.Status().Patch(ctx, config, before)
}

// requestCheck makes the controllers check the credentials, once per checkInterval.
func (l *login) requestCheck(ctx context.Context, config *v1alpha1.ProviderConfig) error {
	if time.Since(l.requested) < checkInterval {
		return nil
	}
	secret := &corev1.Secret{}
	if err := l.client.Get(ctx, config.CredentialsSecret(), secret); err != nil {
		return err
	}
	before := client.MergeFrom(secret.DeepCopy())
	now := time.Now()
	metav1.SetMetaDataAnnotation(&secret.ObjectMeta, annotationCheckRequested, now.UTC().Format(time.RFC3339Nano))
	if err := l.client.Patch(ctx, secret, before); err != nil {
		return err
	}
	l.requested = now
	return nil
}
