// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

const (
	// labelVMName is how Harvester finds the pod of a virtual machine, for example to
	// count what it uses of a quota.
	labelVMName = "harvesterhci.io/vmName"
	// labelRole keeps the control planes of a cluster on different hosts.
	labelRole = v1alpha1.LabelRole
	// hostLabel distinguishes hosts.
	hostLabel = "kubernetes.io/hostname"
)

// runStrategy says when KubeVirt starts the machine again. A drain shuts a machine
// down cleanly that cannot be migrated, and a clean shutdown is no failure: nodes of a
// cluster and machines that cannot be migrated are always started again. A machine of
// its own that can be migrated stays off after its user has shut it down.
func runStrategy(s provider.MachineSpec, d disks) kubevirtv1.VirtualMachineRunStrategy {
	if s.Owner.ClusterID == "" && d.migratable() {
		return kubevirtv1.RunStrategyRerunOnFailure
	}
	return kubevirtv1.RunStrategyAlways
}

// instanceLabels are those of the instance and of its pod.
func (m *machines) instanceLabels(s provider.MachineSpec) map[string]string {
	l := m.labels(s)
	l[labelVMName] = s.Name
	if s.Role != "" {
		l[labelRole] = string(s.Role)
	}
	return l
}

// apart asks the scheduler for a host without another control plane of the cluster.
// It is a preference: a platform with fewer hosts than control planes still works.
func apart(s provider.MachineSpec) *corev1.Affinity {
	if s.Role != v1alpha1.RoleControlPlane || s.Owner.ClusterID == "" {
		return nil
	}
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
			Weight: 100,
			PodAffinityTerm: corev1.PodAffinityTerm{
				TopologyKey: hostLabel,
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{
					tag.ClusterID: s.Owner.ClusterID, labelRole: string(s.Role),
				}},
			},
		}},
	}}
}

// ensureMachine creates the VirtualMachine. Harvester before 1.2.2 does not know
// LiveMigrateIfPossible; there the machine gets what comes closest.
func (m *machines) ensureMachine(ctx context.Context, op string, vm *kubevirtv1.VirtualMachine, s provider.MachineSpec, d disks) error {
	err := m.api.Create(ctx, vm)
	if unknownEviction(err) {
		vm.Spec.Template.Spec.EvictionStrategy = nil
		if d.migratable() {
			vm.Spec.Template.Spec.EvictionStrategy = new(kubevirtv1.EvictionStrategyLiveMigrate)
		}
		err = m.api.Create(ctx, vm)
	}
	return m.created(ctx, op, vm, s.Owner, err)
}

// unknownEviction reports whether KubeVirt does not know the eviction strategy.
func unknownEviction(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || status.ErrStatus.Details == nil {
		return false
	}
	return slices.ContainsFunc(status.ErrStatus.Details.Causes, func(c metav1.StatusCause) bool {
		return strings.HasSuffix(c.Field, "evictionStrategy") && strings.Contains(c.Message, "unrecognized option")
	})
}
