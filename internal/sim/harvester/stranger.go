// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// addStrangers creates the VirtualMachines of the fault plan that take somebody's
// name, wherever the manifest's machines go.
func (h *Harvester) addStrangers(ctx context.Context, c client.Client) error {
	namespaces := h.options.Seed.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceDefault}
	}
	for _, f := range h.options.Faults.ConflictingMachines() {
		for _, ns := range namespaces {
			if err := h.addStranger(ctx, c, ns, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// addStranger creates one, at once or after a time.
func (h *Harvester) addStranger(ctx context.Context, c client.Client, namespace string, f fault.Fault) error {
	if f.After.Duration == 0 {
		return h.createStranger(ctx, c, namespace, f)
	}
	replaced := h.options.Faults.Replaced()
	h.later(f.After.Duration, func(ctx context.Context) {
		select {
		case <-replaced: // another plan holds by now
			return
		default:
		}
		if err := h.createStranger(ctx, c, namespace, f); err != nil {
			h.options.Log.Error("a stranger does not come", "machine", f.Machine, "err", err)
		}
	})
	return nil
}

// createStranger creates one and, if it is there for a while only, deletes it then.
func (h *Harvester) createStranger(ctx context.Context, c client.Client, namespace string, f fault.Fault) error {
	vm := stranger(namespace, f.Machine)
	err := c.Create(ctx, vm)
	if err != nil {
		return describe("create", vm, ignoreExisting(err)) // the name is taken already
	}
	if f.For.Duration > 0 {
		h.later(f.For.Duration, func(ctx context.Context) {
			if err := client.IgnoreNotFound(c.Delete(ctx, vm, client.Preconditions{UID: &vm.UID})); err != nil {
				h.options.Log.Error("a stranger stays", "machine", vm.Name, "err", err)
			}
		})
	}
	return nil
}

// later does something after a time, unless the simulation ends before.
func (h *Harvester) later(d time.Duration, do func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	timer := time.AfterFunc(d, func() { do(ctx) })
	go func() {
		<-h.ended
		timer.Stop()
		cancel()
	}()
}

// stranger is a machine that is off and says nothing of an owner.
func stranger(namespace, name string) *kubevirtv1.VirtualMachine {
	halted, memory := kubevirtv1.RunStrategyHalted, resource.MustParse("1Gi")
	return &kubevirtv1.VirtualMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: kubevirtv1.VirtualMachineSpec{
			RunStrategy: &halted,
			Template: &kubevirtv1.VirtualMachineInstanceTemplateSpec{Spec: kubevirtv1.VirtualMachineInstanceSpec{
				Domain: kubevirtv1.DomainSpec{Memory: &kubevirtv1.Memory{Guest: &memory}},
			}},
		},
	}
}
