// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package admission answers as the admission webhooks of KubeVirt and Harvester do:
// what they add to a VirtualMachine, and what they refuse, in their words. The API
// server of the simulation calls it, so that everyone meets the same answers.
// docs/contributing/sim-harvester.md lists them.
package admission

import (
	"context"
	"encoding/json"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Paths of the webhooks, one for each.
const (
	pathHarvesterMutator   = "/harvester/mutation"
	pathHarvesterValidator = "/harvester/validation"
	pathMachineMutator     = "/virtualmachines-mutate"
	pathMachineValidator   = "/virtualmachines-validate"
	pathEviction           = "/launcher-eviction-validate"
)

// webhooks answer from what c reads. It must not be a cache: what a caller has created
// counts in his next request.
type webhooks struct{ client.Client }

// Handler answers the admission reviews of all webhooks in Configurations.
func Handler(c client.Client) http.Handler {
	w := &webhooks{c}
	mux := http.NewServeMux()
	for path, review := range map[string]admission.HandlerFunc{
		pathHarvesterMutator:   onMachine(mutated(w.harvesterMutator)),
		pathHarvesterValidator: w.harvesterValidator,
		pathMachineMutator:     onMachine(mutated(machineMutator)),
		pathMachineValidator:   onMachine(validated(machineValidator)),
		pathEviction:           w.eviction,
	} {
		mux.Handle(path, &admission.Webhook{Handler: review})
	}
	return mux
}

// review is a request about a VirtualMachine. old is nil when it is created.
type review struct {
	context.Context
	vm, old *kubevirtv1.VirtualMachine
}

// onMachine decodes the VirtualMachine of a request. What cannot be decoded is answered
// as Harvester's webhook, the first in line, does.
func onMachine(answer func(review) admission.Response) admission.HandlerFunc {
	return func(ctx context.Context, r admission.Request) admission.Response {
		v := review{Context: ctx, vm: &kubevirtv1.VirtualMachine{}}
		if err := json.Unmarshal(r.Object.Raw, v.vm); err != nil {
			return internalError(err)
		}
		if r.Operation == admissionv1.Update {
			v.old = &kubevirtv1.VirtualMachine{}
			if err := json.Unmarshal(r.OldObject.Raw, v.old); err != nil {
				return internalError(err)
			}
		}
		v.vm.Namespace = r.Namespace // not in the object yet when it is created
		return answer(v)
	}
}

// mutated answers with what change does to the machine, or with its refusal. A machine that
// is being deleted stays as it is.
func mutated(change func(review) error) func(review) admission.Response {
	return func(v review) admission.Response {
		if !v.vm.DeletionTimestamp.IsZero() {
			return admission.Allowed("")
		}
		before := v.vm.DeepCopy()
		if err := change(v); err != nil {
			return denial(err)
		}
		return difference(before, v.vm)
	}
}

// difference allows the object with what has changed. Both sides are marshalled from Go
// types, so that fields which the caller left out stay so.
func difference(before, after *kubevirtv1.VirtualMachine) admission.Response {
	old, err := json.Marshal(before)
	if err != nil {
		return internalError(err)
	}
	current, err := json.Marshal(after)
	if err != nil {
		return internalError(err)
	}
	return admission.PatchResponseFromRaw(old, current)
}

func validated(check func(review) error) func(review) admission.Response {
	return func(v review) admission.Response {
		if err := check(v); err != nil {
			return denial(err)
		}
		return admission.Allowed("")
	}
}
