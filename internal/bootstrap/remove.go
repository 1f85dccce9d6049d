// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
)

// Remove deletes everything that the bootstrap made, requests first, and
// reports what is still there. A request represents what the platform made of
// it: it is gone when that is.
func (s *Session) Remove(ctx context.Context) (*Obstacle, error) {
	machines, err1 := s.removeAll(ctx, &v1alpha1.MachineRequestList{})
	balancers, err2 := s.removeAll(ctx, &v1alpha1.LoadBalancerRequestList{})
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	left := slices.Concat(machines, balancers)
	if len(left) == 0 {
		// Addresses are released when nothing has them any more.
		var err error
		if left, err = s.removeAll(ctx, &v1alpha1.IPAllocationList{}); err != nil {
			return nil, err
		}
	}
	if len(left) == 0 {
		// The credentials go last: until here an operator may need them.
		var err error
		if left, err = s.removeAll(ctx, &corev1.SecretList{}); err != nil {
			return nil, err
		}
	}
	if len(left) == 0 {
		return nil, nil
	}
	return &Obstacle{Reason: "Deleting", Message: "waiting for " + step.Listed(left) + " to be gone", Poll: true}, nil
}

// removeAll deletes the objects of a list that are this bootstrap's, and returns
// which are still there after that.
func (s *Session) removeAll(ctx context.Context, list client.ObjectList) (left []string, err error) {
	found, err := s.own(ctx, list)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	for _, o := range found {
		if o.GetDeletionTimestamp().IsZero() {
			err = errors.Join(err, client.IgnoreNotFound(s.Client.Delete(ctx, o)))
		}
	}
	if err != nil {
		return nil, err
	}
	found, err = s.own(ctx, list)
	for _, o := range found {
		left = append(left, o.GetName()+whyStill(o))
	}
	return left, err
}

// own fills the list and picks what this bootstrap made.
func (s *Session) own(ctx context.Context, list client.ObjectList) ([]client.Object, error) {
	return s.ownBy(ctx, s.Live, list)
}

// ownBy is own with another reader, such as one of a cache.
func (s *Session) ownBy(ctx context.Context, reader client.Reader, list client.ObjectList) (out []client.Object, err error) {
	err = reader.List(ctx, list, client.InNamespace(s.Namespace), client.MatchingLabels{v1alpha1.LabelClusterBootstrap: s.Name})
	if err != nil {
		return nil, err
	}
	objects, err := meta.ExtractList(list)
	for _, object := range objects {
		if o := object.(client.Object); o.GetAnnotations()[v1alpha1.AnnotationClusterID] == s.clusterID() {
			out = append(out, o)
		}
	}
	return out, err
}

// whyStill is what a request itself says about why it is still there.
func whyStill(o client.Object) string {
	var all []metav1.Condition
	switch r := o.(type) {
	case *v1alpha1.MachineRequest:
		all = r.Status.Conditions
	case *v1alpha1.LoadBalancerRequest:
		all = r.Status.Conditions
	case *v1alpha1.IPAllocation:
		all = r.Status.Conditions
	}
	c := meta.FindStatusCondition(all, v1alpha1.ConditionReady)
	if c == nil || c.Status == metav1.ConditionTrue {
		return ""
	}
	return " (" + c.Message + ")"
}
