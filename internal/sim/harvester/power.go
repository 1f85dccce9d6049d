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
	// earlyDeath is until when a death counts as a failed start.
	earlyDeath = time.Second
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
	_, on := r.datacenter.Running(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	return on && r.powered[id].instance == instance
}

// isDead says whether this process switched the machine on and it is off now. After
// a restart of the process it is merely off.
func (r *machines) isDead(id string, instance types.UID) bool {
	_, on := r.datacenter.Running(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	return !on && r.powered[id].instance == instance && instance != ""
}

func (r *machines) notePower(id string, p poweredOn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.powered[id] = p
}

// noteEnd remembers that a machine is off. Only one that died counts as a start that
// may have failed.
func (r *machines) noteEnd(id string, clean bool, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if count := r.failures[id].count + 1; !clean && now.Sub(r.powered[id].at) < earlyDeath {
		r.failures[id] = failure{count: count, retry: now.Add(backoff(count))}
	} else {
		delete(r.failures, id)
	}
	delete(r.powered, id)
}

func (r *machines) failure(id string) failure {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failures[id]
}

func (r *machines) machineOf(id string) (types.NamespacedName, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, known := r.powered[id]
	return p.machine, known
}

func (r *machines) powerOff(id string) {
	r.datacenter.PowerOff(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.powered, id)
}

func (r *machines) forget(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.powered, id)
	delete(r.failures, id)
	delete(r.reruns, id)
}
