// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
)

const (
	kubeVIPName     = addon.KubeVIP
	kubeVIPImage    = "ghcr.io/kube-vip/kube-vip"
	kubePrismPort   = 7445
	systemNamespace = metav1.NamespaceSystem
	// controlPlaneLabel is set by Talos on control planes, and tainted with.
	controlPlaneLabel = "node-role.kubernetes.io/control-plane"
)

// KubeVIP is the configuration of kube-vip.
type KubeVIP struct {
	Address   string // an address or a name
	Interface string // empty: kube-vip finds it
	Version   string
}

func kubeVIP(spec v1alpha1.ClusterBootstrapSpec, addons []addon.Addon) KubeVIP {
	k := KubeVIP{Address: spec.Network.VIP, Interface: spec.Network.VIPInterface}
	for _, a := range addons {
		if a.Key == kubeVIPName {
			k.Version = a.Version
		}
	}
	return k
}

// serviceAccount, role and binding let the pods elect who holds the address.
func (k KubeVIP) serviceAccount() *corev1.ServiceAccount {
	return &corev1.ServiceAccount{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta: k.meta(systemNamespace),
	}
}

func (k KubeVIP) role() *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
		ObjectMeta: k.meta(""),
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{coordinationv1.GroupName}, Resources: []string{"leases"}, Verbs: []string{"get", "list", "watch", "create", "update"}},
			{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"get", "list", "watch"}},
		},
	}
}

func (k KubeVIP) binding() *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRoleBinding"},
		ObjectMeta: k.meta(""),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: kubeVIPName},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: systemNamespace, Name: kubeVIPName}},
	}
}

// daemonSet runs on control planes, from their first moment: kubelets that join
// by way of the endpoint wait for these pods.
func (k KubeVIP) daemonSet() *appsv1.DaemonSet {
	labels := map[string]string{"app.kubernetes.io/name": kubeVIPName}
	return &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "DaemonSet"},
		ObjectMeta: k.meta(systemNamespace),
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					ServiceAccountName: kubeVIPName,
					HostNetwork:        true,
					NodeSelector:       map[string]string{controlPlaneLabel: ""},
					PriorityClassName:  "system-node-critical",
					Tolerations: []corev1.Toleration{
						{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
						{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
					},
					Containers: []corev1.Container{k.container()},
				},
			},
		},
	}
}

func (k KubeVIP) container() corev1.Container {
	return corev1.Container{
		Name:  kubeVIPName,
		Image: kubeVIPImage + ":" + k.Version,
		Args:  []string{"manager"},
		Env:   k.env(),
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}, Add: []corev1.Capability{"NET_ADMIN", "NET_RAW"}},
		},
	}
}

// env reaches the API server by the node's own KubePrism: the endpoint cannot
// be relied upon by who makes it answer. The length of the address's prefix is
// left to kube-vip, which knows it: up to v0.8 it wants vip_subnet with a slash,
// later without.
func (k KubeVIP) env() []corev1.EnvVar {
	env := []corev1.EnvVar{
		{Name: "vip_arp", Value: "true"},
		{Name: "port", Value: strconv.Itoa(APIServerPort)},
		{Name: "address", Value: k.Address},
		{Name: "cp_enable", Value: "true"},
		{Name: "cp_namespace", Value: systemNamespace},
		{Name: "vip_leaderelection", Value: "true"},
		{Name: "vip_leasename", Value: "plndr-cp-lock"},
		{Name: "vip_leaseduration", Value: "5"},
		{Name: "vip_renewdeadline", Value: "3"},
		{Name: "vip_retryperiod", Value: "1"},
		{Name: "vip_nodename", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}},
		{Name: "KUBERNETES_SERVICE_HOST", Value: "127.0.0.1"},
		{Name: "KUBERNETES_SERVICE_PORT", Value: strconv.Itoa(kubePrismPort)},
	}
	if k.Interface != "" {
		env = append(env, corev1.EnvVar{Name: "vip_interface", Value: k.Interface})
	}
	return env
}

func (k KubeVIP) meta(namespace string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: kubeVIPName, Namespace: namespace,
		Labels: map[string]string{"app.kubernetes.io/name": kubeVIPName, v1alpha1.LabelManagedBy: fieldOwner},
	}
}
