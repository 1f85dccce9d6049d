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

// annotationAsked is when the credentials of a cluster's own controllers were last
// asked for. A Secret that has changed is tried at once.
const annotationAsked = v1alpha1.Group + "/asked"

// askAgain is how long the controllers have for an answer before they are asked
// once more: they may have seen the Secret before the doubt.
const askAgain = 2 * time.Second

// login is the question whether the platform takes a cluster's own controllers. What
// they have found before it was asked does not count.
type login struct {
	client client.Client
	key    client.ObjectKey // of the ProviderConfig
	asked  time.Time
}

// accepted tells why the platform does not take the controllers, or nothing if it
// does.
func (l *login) accepted(ctx context.Context) error {
	config := &v1alpha1.ProviderConfig{}
	if err := l.client.Get(ctx, l.key, config); err != nil {
		return err
	}
	if l.asked.IsZero() {
		if err := l.doubt(ctx, config); err != nil {
			return err
		}
	}
	ready := meta.FindStatusCondition(config.Status.Conditions, v1alpha1.ConditionReady)
	switch {
	case ready == nil || ready.ObservedGeneration != config.Generation || ready.Reason == operation.ReasonChecking:
		if err := l.ask(ctx, config); err != nil {
			return err
		}
		return errors.New("the cluster's own provider controller has not connected to the platform yet")
	case ready.Status != metav1.ConditionTrue:
		return fmt.Errorf("the cluster's own provider controller cannot log in to the platform: %s", ready.Message)
	}
	return nil
}

// doubt marks what the controllers have found so far as not looked at yet.
func (l *login) doubt(ctx context.Context, config *v1alpha1.ProviderConfig) error {
	before := client.MergeFromWithOptions(config.DeepCopy(), client.MergeFromWithOptimisticLock{})
	meta.SetStatusCondition(&config.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionUnknown, Reason: operation.ReasonChecking,
		Message: "the platform is checked again before the plane moves here", ObservedGeneration: config.Generation,
	})
	return l.client.Status().Patch(ctx, config, before)
}

// ask has the controllers try the credentials, now and then.
func (l *login) ask(ctx context.Context, config *v1alpha1.ProviderConfig) error {
	if time.Since(l.asked) < askAgain {
		return nil
	}
	secret := &corev1.Secret{}
	if err := l.client.Get(ctx, config.CredentialsSecret(), secret); err != nil {
		return err
	}
	before := client.MergeFrom(secret.DeepCopy())
	now := time.Now()
	metav1.SetMetaDataAnnotation(&secret.ObjectMeta, annotationAsked, now.UTC().Format(time.RFC3339Nano))
	if err := l.client.Patch(ctx, secret, before); err != nil {
		return err
	}
	l.asked = now
	return nil
}
