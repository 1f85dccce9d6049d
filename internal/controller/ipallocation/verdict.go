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
	reasonPoolMissing  = "PoolMissing"
	reasonPoolInvalid  = "PoolInvalid"
	reasonPoolDeleting = "PoolDeleting"
	reasonExhausted    = "PoolExhausted"
	reasonTaken        = "AddressTaken"
	reasonNotInPool    = "AddressNotInPool"
	reasonRange        = "RangeInvalid"
	reasonInUse        = "InUse"
)

// verdict is what becomes of an IPAllocation.
type verdict struct {
	phase           v1alpha1.IPAllocationPhase
	reason, message string
	addresses       *ipam.Range // that the allocation has
	network         string
	// after is what may be done only once the status is written.
	after func(context.Context) error
	// again is when to look again without an event.
	again time.Duration
}

func pending(reason, format string, args ...any) verdict {
	return verdict{phase: v1alpha1.IPAllocationPending, reason: reason, message: fmt.Sprintf(format, args...)}
}

func failed(reason, format string, args ...any) verdict {
	return verdict{phase: v1alpha1.IPAllocationFailed, reason: reason, message: fmt.Sprintf(format, args...)}
}
