// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package hosted

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// bootstrappers is the group of bootstrap tokens of workers.
const bootstrappers = "system:bootstrappers:kubeadm:default-node-token"

// prepare grants workers what the kubeadm phases of a hosted control plane grant: to join with
// a bootstrap token, and to get and renew their certificates.
func prepare(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	const csr = "system:certificates.k8s.io:certificatesigningrequests:"
	for _, b := range []struct{ name, role, group string }{
		{"kubeadm:kubelet-bootstrap", "system:node-bootstrapper", bootstrappers},
		{"kubeadm:node-autoapprove-bootstrap", csr + "nodeclient", bootstrappers},
		{"kubeadm:node-autoapprove-certificate-rotation", csr + "selfnodeclient", "system:nodes"},
	} {
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: b.name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: b.role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: b.group}},
		}
		if _, err := client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("grant %s to %s: %w", b.role, b.group, err)
		}
	}
	return nil
}
