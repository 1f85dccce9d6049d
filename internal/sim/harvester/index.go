// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"

	kubevirtv1 "kubevirt.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Indexes of VirtualMachines by what they use, each as namespace/name.
const (
	byClaim   = "claim"
	bySecret  = "secret"
	byNetwork = "network"
)

func indexMachines(ctx context.Context, indexer client.FieldIndexer) error {
	for name, names := range map[string]func(string, *kubevirtv1.VirtualMachineInstanceSpec) []string{
		byClaim: claimsOf, bySecret: secretsOf, byNetwork: networksOf,
	} {
		err := indexer.IndexField(ctx, &kubevirtv1.VirtualMachine{}, name, func(o client.Object) []string {
			vm := o.(*kubevirtv1.VirtualMachine)
			if vm.Spec.Template == nil {
				return nil
			}
			return names(vm.Namespace, &vm.Spec.Template.Spec)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// using finds the machines that use an object.
func (r *machines) using(index string) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []reconcile.Request {
		list := &kubevirtv1.VirtualMachineList{}
		if err := r.List(ctx, list, client.MatchingFields{index: client.ObjectKeyFromObject(o).String()}); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "list machines", "by", index)
			return nil
		}
		var requests []reconcile.Request
		for i := range list.Items {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
		return requests
	}
}

func claimsOf(namespace string, spec *kubevirtv1.VirtualMachineInstanceSpec) []string {
	var names []string
	for _, v := range spec.Volumes {
		if claim := claimOf(v); claim != "" {
			names = append(names, namespace+"/"+claim)
		}
	}
	return names
}

func secretsOf(namespace string, spec *kubevirtv1.VirtualMachineInstanceSpec) []string {
	var names []string
	for _, v := range spec.Volumes {
		init := cloudInitOf(v)
		if init == nil {
			continue
		}
		if init.UserDataSecretRef != nil {
			names = append(names, namespace+"/"+init.UserDataSecretRef.Name)
		}
		if init.NetworkDataSecretRef != nil {
			names = append(names, namespace+"/"+init.NetworkDataSecretRef.Name)
		}
	}
	return names
}

func networksOf(namespace string, spec *kubevirtv1.VirtualMachineInstanceSpec) []string {
	var names []string
	for _, n := range spec.Networks {
		if n.Multus != nil {
			names = append(names, networkName(namespace, n.Multus.NetworkName))
		}
	}
	return names
}
