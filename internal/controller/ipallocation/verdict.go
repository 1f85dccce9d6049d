// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipallocation

import (
	"context"
	"fmt"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/ipam"
)

// Reasons of the condition Ready.
const (
	reasonAllocated    = "Allocated"
	reasonReleased     = "Released"
	reasonPoolMissing  = "PoolMissing"
	reasonPoolNotReady = "PoolNotReady"
	reasonPoolDeleting = "PoolDeleting"
	reasonExhausted    = "PoolExhausted"
	reasonTaken        = "AddressTaken"
	reasonNotInPool    = "AddressNotInPool"
	reasonRange        = "RangeInvalid"
	reasonInUse        = "InUse"
)

// verdict is the outcome of a pass over an IPAllocation.
type verdict struct {
	phase           v1alpha1.IPAllocationPhase // "": the status stays as it is
	reason, message string
	addresses       *ipam.Range // nil: those that were handed out stay
	network         string      // of addresses that are handed out now
	// after runs once the status is written.
	after func(context.Context, *v1alpha1.IPAllocation) error
	// again is when to look again without an event.
	again time.Duration
}

func pending(reason, format string, args ...any) verdict {
	return verdict{phase: v1alpha1.IPAllocationPending, reason: reason, message: fmt.Sprintf(format, args...)}
}

func failed(reason, format string, args ...any) verdict {
	return verdict{phase: v1alpha1.IPAllocationFailed, reason: reason, message: fmt.Sprintf(format, args...)}
}

func allocated(a *v1alpha1.IPAllocation, is ipam.Range) verdict {
	return verdict{
		phase: v1alpha1.IPAllocationAllocated, reason: reasonAllocated, addresses: &is,
		message: fmt.Sprintf("%s of NetworkPool %s", is, a.Spec.PoolRef.Name),
	}
}
