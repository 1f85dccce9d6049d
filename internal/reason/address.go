// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package reason

func addresses() []Entry {
	return []Entry{
		{"NetworkPoolMissing", "a NetworkPool that the ProviderConfig names does not exist", "create it"},
		{"NetworkPoolInvalid", "a NetworkPool cannot be used", "correct the field that the message names"},
		{"NetworkPoolOverlap", "two NetworkPools have addresses in common", "limit them by ranges"},
		{"NetworkPoolTooSmall", "the addresses of the cluster do not all fit into the NetworkPools; nothing is allocated until they do", "add a range or a pool, or wait: released addresses rest"},
		{"NetworkInvalid", "gateway, VIP or load balancer range do not fit the NetworkPool", "correct the field that the message names"},
		{"AddressInUse", "another host has an address that was allocated to the cluster, or the VIP", "remove that host, or add the address to `spec.reserved` of the NetworkPool, or choose another in `spec.network`"},
		{"WaitingForAddresses", "an IPAllocation has no addresses yet; the message is that of the IPAllocation", "see the reason of the IPAllocation"},
		{"Allocated", "the addresses are allocated", ""},
		{"Released", "the addresses are released", ""},
		{"PoolMissing", "the NetworkPool of the IPAllocation does not exist", "create it"},
		{"PoolNotReady", "the pool was not checked yet, or cannot be used; the message has its reason", "correct the pool"},
		{"PoolDeleting", "the pool is being deleted", "create another IPAllocation, of another pool"},
		{"PoolExhausted", "there is no free block of this size, or no room to grow", "add a range to the pool, or wait: released addresses rest"},
		{"AddressTaken", "a pinned address is allocated to another IPAllocation, or rests. In phase Failed: addresses are allocated twice, as after a restore of old objects", "choose another address; in phase Failed delete one of the two allocations"},
		{"AddressNotInPool", "a pinned address is not one that the pool allocates", "correct `spec.pinnedRange`, or the ranges of the pool"},
		{"RangeInvalid", "the pinned range is not a range, is too large, or contradicts the count", "correct it"},
		{"InUse", "the object is being deleted, or was made smaller, and something still uses it; it is kept", "the message names the user: delete that first, or set the change back"},
		{"Invalid", "the spec of a NetworkPool contradicts itself", "correct it as the message says"},
		{"Overlap", "another NetworkPool has some of the addresses, and is in use or older", "delete one of them, or limit them by ranges"},
		{"AllocationsOutside", "the ranges of a NetworkPool were changed and lack addresses that are allocated", "set the ranges back, or delete the IPAllocations that the message names"},
	}
}
