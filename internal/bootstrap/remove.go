// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// Remove deletes everything that the bootstrap made, requests first, and
// reports what is still there.
func (s *Session) Remove(ctx context.Context) (*Obstacle, error) {
	machines, err1 := s.removeAll(ctx, &v1alpha1.MachineRequestList{})
	balancers, err2 := s.removeAll(ctx, &v1alpha1.LoadBalancerRequestList{})
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	if left := slices.Concat(machines, balancers); len(left) > 0 {
		return &Obstacle{Reason: "Deleting", Message: "waiting for " + strings.Join(left, ", ") + " to be gone"}, nil
	}
	// The credentials go last: until here somebody may need them to look.
	_, err := s.removeAll(ctx, &corev1.SecretList{})
	return nil, err
}

// removeAll deletes the objects of a list that are this bootstrap's.
func (s *Session) removeAll(ctx context.Context, list client.ObjectList) (left []string, err error) {
	err = s.Live.List(ctx, list, client.InNamespace(s.Namespace), client.MatchingLabels{v1alpha1.LabelClusterBootstrap: s.Name})
	if err != nil {
		return nil, err
	}
	objects, err := meta.ExtractList(list)
	for _, object := range objects {
		o := object.(client.Object)
		if o.GetAnnotations()[v1alpha1.AnnotationClusterID] != s.clusterID() {
			continue
		}
		left = append(left, o.GetName()+because(o))
		if o.GetDeletionTimestamp().IsZero() {
			err = errors.Join(err, client.IgnoreNotFound(s.Client.Delete(ctx, o)))
		}
	}
	return left, err
}

// because is what a request itself says about why it is still there.
func because(o client.Object) string {
	r, ok := o.(*v1alpha1.MachineRequest)
	if !ok {
		return ""
	}
	c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionReady)
	if c == nil || c.Status == metav1.ConditionTrue {
		return ""
	}
	return " (" + c.Message + ")"
}
