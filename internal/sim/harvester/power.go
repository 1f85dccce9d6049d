// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	kubevirtv1 "kubevirt.io/api/core/v1"
)

const (
	// startBackoff and maxStartBackoff are KubeVirt's, without its random part.
	startBackoff    = 10 * time.Second
	maxStartBackoff = 5 * time.Minute
)

// shouldStart says whether a VirtualMachine without an instance is to get one.
func shouldStart(vm *kubevirtv1.VirtualMachine) bool {
	strategy, err := vm.RunStrategy()
	if err != nil {
		return false
	}
	switch strategy {
	case kubevirtv1.RunStrategyAlways:
		return true
	case kubevirtv1.RunStrategyRerunOnFailure:
		return startRequested(vm) || vm.Status.RunStrategy != strategy // the first start, or from another strategy
	case kubevirtv1.RunStrategyOnce:
		return vm.Status.RunStrategy == "" // set with the first instance
	default:
		return false
	}
}

// startRequested reports whether KubeVirt has noted that the machine is to start again.
func startRequested(vm *kubevirtv1.VirtualMachine) bool {
	return slices.ContainsFunc(vm.Status.StateChangeRequests, func(r kubevirtv1.VirtualMachineStateChangeRequest) bool {
		return r.Action == kubevirtv1.StartRequest
	})
}

// shouldRerun reports whether an instance that is over is to be followed by another
// although its strategy alone does not say so.
func shouldRerun(vm *kubevirtv1.VirtualMachine, vmi *kubevirtv1.VirtualMachineInstance) bool {
	strategy, err := vm.RunStrategy()
	return err == nil && strategy == kubevirtv1.RunStrategyRerunOnFailure && vmi.Status.Phase == kubevirtv1.Failed
}

// shouldKeep says whether an instance may stay. One that has failed makes room for
// the next unless it was the only one.
func shouldKeep(vm *kubevirtv1.VirtualMachine, vmi *kubevirtv1.VirtualMachineInstance) bool {
	strategy, err := vm.RunStrategy()
	switch {
	case err != nil:
		return true
	case strategy == kubevirtv1.RunStrategyHalted:
		return false
	case strategy == kubevirtv1.RunStrategyAlways, strategy == kubevirtv1.RunStrategyRerunOnFailure:
		return !vmi.IsFinal()
	}
	return true
}

// failure is a start that failed, the last of several in a row.
type failure struct {
	count int
	retry time.Time
}

// startDelay is how long a failed start still holds back the next one. The status
// is for the time after a restart; until then it may lag behind.
func (r *machines) startDelay(vm *kubevirtv1.VirtualMachine, now time.Time) time.Duration {
	delay := r.failure(string(vm.UID)).retry.Sub(now)
	if f := vm.Status.StartFailure; f != nil && f.RetryAfterTimestamp != nil {
		delay = max(delay, f.RetryAfterTimestamp.Sub(now))
	}
	return max(0, delay)
}

// backoff grows with the square of the failures in a row.
func backoff(failures int) time.Duration {
	return min(startBackoff*time.Duration(failures*failures), maxStartBackoff)
}

func (r *machines) isOn(id string, instance types.UID) bool {
	m, on := r.datacenter.Running(id)
	return on && m.Instance == string(instance)
}

// failure returns the failed starts of a machine since the last that was none.
func (r *machines) failure(id string) failure {
	last, _ := r.datacenter.LastRun(id)
	if last.FailedStarts == 0 {
		return failure{}
	}
	return failure{count: last.FailedStarts, retry: last.LastFailure.Add(backoff(last.FailedStarts))}
}
