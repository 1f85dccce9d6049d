// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// quotaAnnotation is where Rancher keeps the quota of a namespace.
	quotaAnnotation = "field.cattle.io/resourceQuota"
	// quotaLabel marks the ResourceQuota that Rancher creates for it.
	quotaLabel = "resourcequota.management.cattle.io/default-resource-quota"
	// vmNameLabel is all that Harvester finds the pod of a machine by.
	vmNameLabel = "harvesterhci.io/vmName"
)

// quotaError is the reason for which a quota lets a machine not start.
type quotaError string

// Error returns it in Harvester's words.
func (e quotaError) Error() string {
	return string(e) + " insufficient resources due to resource quota"
}

// IsOverQuota reports whether err is a quota that does not let a machine start.
func IsOverQuota(err error) bool {
	_, is := errors.AsType[quotaError](err)
	return is
}

// CheckQuota returns an error if Harvester would not let the machine start: the quota of
// its namespace leaves less than it needs. A machine whose pod Harvester finds has
// started, and is not checked.
func CheckQuota(ctx context.Context, c client.Reader, vm *kubevirtv1.VirtualMachine) error {
	strategy, err := vm.RunStrategy()
	if err != nil || strategy == kubevirtv1.RunStrategyHalted || vm.Status.PrintableStatus == "" || vm.Spec.Template == nil {
		return nil //nolint:nilerr // refused by KubeVirt's webhook
	}
	limit, err := namespaceLimit(ctx, c, vm.Namespace)
	if err != nil || limit == nil {
		return err
	}
	if found, err := podFound(ctx, c, vm); err != nil || found {
		return err
	}
	quotas := &corev1.ResourceQuotaList{}
	if err := c.List(ctx, quotas, client.InNamespace(vm.Namespace), client.MatchingLabels{quotaLabel: "true"}); err != nil || len(quotas.Items) == 0 {
		return err
	}
	return compare(*limit, quotas.Items[0].Status.Used, vm.Spec.Template.Spec.Domain)
}

// quotaLimit is the part of Rancher's quota that is about machines.
type quotaLimit struct {
	CPU    string `json:"limitsCpu"`
	Memory string `json:"limitsMemory"`
}

// namespaceLimit reads Rancher's quota of a namespace; nil: it has none.
func namespaceLimit(ctx context.Context, c client.Reader, name string) (*quotaLimit, error) {
	namespace := &corev1.Namespace{}
	if err := c.Get(ctx, client.ObjectKey{Name: name}, namespace); err != nil {
		return nil, err
	}
	text, found := namespace.Annotations[quotaAnnotation]
	if !found {
		return nil, nil
	}
	var quota struct{ Limit quotaLimit }
	if err := json.Unmarshal([]byte(text), &quota); err != nil {
		return nil, err
	}
	return &quota.Limit, nil
}

func podFound(ctx context.Context, c client.Reader, vm *kubevirtv1.VirtualMachine) (bool, error) {
	pods := &corev1.PodList{}
	err := c.List(ctx, pods, client.InNamespace(vm.Namespace), client.MatchingLabels{vmNameLabel: vm.Name})
	return len(pods.Items) > 0, err
}

// compare reports the first resource of which the quota leaves less than a machine needs.
func compare(limit quotaLimit, used corev1.ResourceList, domain kubevirtv1.DomainSpec) error {
	cpu, memory := *domain.Resources.Limits.Cpu(), *domain.Resources.Limits.Memory()
	memory.Add(*resource.NewQuantity(MemoryOverhead(kubevirtv1.DomainSpec{
		Resources: kubevirtv1.ResourceRequirements{Limits: domain.Resources.Limits},
	}), resource.BinarySI))
	for _, r := range []struct {
		name, limit string
		used        corev1.ResourceName
		needed      resource.Quantity
	}{
		{"cpu", limit.CPU, corev1.ResourceLimitsCPU, cpu}, {"memory", limit.Memory, corev1.ResourceLimitsMemory, memory},
	} {
		if r.limit == "" {
			continue
		}
		free, err := resource.ParseQuantity(r.limit)
		if err != nil {
			return fmt.Errorf("quota of %s: %w", r.name, err)
		}
		free.Sub(used[r.used])
		if free.Cmp(r.needed) < 0 {
			return quotaError(r.name)
		}
	}
	return nil
}

// MemoryOverhead returns how many bytes beyond its limit the pod of a machine may use: for
// KubeVirt's own processes, page tables, processors and a screen, and half of that again
// by Harvester's setting additional-guest-memory-overhead-ratio.
func MemoryOverhead(domain kubevirtv1.DomainSpec) int64 {
	const (
		processes    = 220 << 20
		screen       = 32 << 20
		perProcessor = 8 << 20 // and for one thread of input and output
	)
	processors := domain.Resources.Limits.Cpu().Value()
	if cpu := domain.CPU; cpu != nil {
		processors = int64(max(cpu.Cores, 1) * max(cpu.Sockets, 1) * max(cpu.Threads, 1))
	}
	overhead := processes + screen + perProcessor*(max(processors, 1)+1) + domain.Resources.Requests.Memory().Value()/512
	return overhead * 3 / 2
}
