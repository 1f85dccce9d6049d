// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// SecretData returns the data of a Secret, with an administrator's config; nil if there is no
// such Secret.
func SecretData(ctx context.Context, config *rest.Config, namespace, name string) (map[string][]byte, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	secret, err := client.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return secret.Data, nil
}

// MayHoldLeases asks, with an administrator's config, whether a service account has
// the rights that a leader election in namespace takes. It returns what is denied.
func MayHoldLeases(ctx context.Context, config *rest.Config, account metav1.ObjectMeta, namespace string) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	user := "system:serviceaccount:" + account.Namespace + ":" + account.Name
	for _, verb := range []string{"get", "create", "update"} {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:   user,
			Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + account.Namespace, "system:authenticated"},
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: verb, Group: "coordination.k8s.io", Resource: "leases", Namespace: namespace,
			},
		}}
		review, err := client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		if !review.Status.Allowed {
			return fmt.Errorf("%s may not %s leases in namespace %s", user, verb, namespace)
		}
	}
	return nil
}
