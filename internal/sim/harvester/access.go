// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"errors"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/pki"
	"github.com/butlerdotdev/butler/internal/plane"
)

const (
	// User is who Dir/kubeconfig belongs to.
	User = "butler"
	// DocumentedRole names the ClusterRole, and its binding, with the verbs that the
	// provider's documentation asks for.
	DocumentedRole = "butler-documented"
	// RecommendedRole names the ClusterRole, and its binding, with the verbs that are
	// recommended beyond these. A binding that was deleted stays so.
	RecommendedRole = "butler-recommended"
)

// installAccess writes the kubeconfigs and grants the limited user its verbs.
func (h *Harvester) installAccess(ctx context.Context, c client.Client) error {
	limited, err := h.plane.Issue(pki.Request{CommonName: User})
	if err != nil {
		return err
	}
	limited.Host, limited.CAData = "https://"+h.Address(), h.options.Authority.Certificate()
	if err := errors.Join(
		plane.WriteKubeconfig(h.Kubeconfig(), limited),
		plane.WriteKubeconfig(h.AdminKubeconfig(), h.plane.Config()),
	); err != nil {
		return err
	}
	for name, rules := range map[string][]rbacv1.PolicyRule{DocumentedRole: documented(), RecommendedRole: recommended()} {
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
		if err := put(ctx, c, role); err != nil {
			return err
		}
	}
	return nil
}

func documented() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		allow("kubevirt.io", "virtualmachines", "create", "get", "list", "watch", "delete"),
		allow("kubevirt.io", "virtualmachineinstances", "get", "list", "watch"),
		allow("", "persistentvolumeclaims", "create", "get", "list", "watch", "delete"),
		allow("", "secrets", "get"),
	}
}

func recommended() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		allow("harvesterhci.io", "virtualmachineimages", "get", "list", "watch"),
		allow("k8s.cni.cncf.io", "network-attachment-definitions", "get", "list", "watch"),
		allow("storage.k8s.io", "storageclasses", "get", "list", "watch"),
		allow("", "secrets", "create", "delete"),
		allow("", "namespaces", "get"),
	}
}

func allow(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

func binding(role string) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: User}},
	}
}
