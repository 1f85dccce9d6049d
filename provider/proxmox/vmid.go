// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/butlerdotdev/butler/provider"
)

const (
	// firstVMID and lastVMID are the range without a setting: out of the way of the IDs that
	// Proxmox VE proposes from 100 on.
	firstVMID = 100_000
	lastVMID  = 999_999
	// probes is how many IDs are derived from an owner, before any free one is taken. All are
	// looked at where no attempt is recorded.
	probes = 32
)

// vmids is the range that IDs are taken from.
func (p *platform) vmids() (first, size int64) {
	if r := p.spec.VMIDRange; r != nil {
		return int64(r.Start), int64(r.End) - int64(r.Start) + 1
	}
	return firstVMID, lastVMID - firstVMID + 1
}

// candidate derives an ID from the owner and the number of the attempt: two controllers seldom
// want the same one, and debris is found without a record.
func (p *platform) candidate(owner string, attempt int) number {
	first, size := p.vmids()
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", owner, attempt))
	return number(first + int64(binary.BigEndian.Uint64(sum[:8])>>1)%size)
}

// candidates are the IDs that are derived from an owner.
func (p *platform) candidates(owner string) map[number]bool {
	all := map[number]bool{}
	for n := range probes {
		all[p.candidate(owner, n)] = true
	}
	return all
}

// readVolumeIDs returns the IDs that disks have in their names, on all storages that can be
// read. A disk without a VM is of a person, or left from a VM: the next VM of its ID would
// seem to own it.
func (p *platform) readVolumeIDs(ctx context.Context, _ []string) (map[number]bool, error) {
	c, err := p.seen.Do(ctx, "")
	if err != nil {
		return nil, err
	}
	all, _, err := machines{p}.readVolumes(ctx, c, "images")
	ids := map[number]bool{}
	for _, v := range all {
		ids[v.VMID] = true
	}
	return ids, err
}

// freeID returns the first ID from an attempt on that no VM has, and none of the disks. Whether
// it stays free is decided by the call that clones.
func (p *platform) freeID(ctx context.Context, c *cluster, disks map[number]bool, owner string, attempt int) (int, number, error) {
	for n := attempt; n < attempt+probes; n++ {
		id := p.candidate(owner, n%probes)
		if disks[id] {
			continue
		}
		if free, err := p.take(ctx, c, id, owner); err != nil || free {
			return n, id, err
		}
	}
	first, size := p.vmids()
	for i := range min(size, 1<<16) {
		if id := number(first + i); !c.guests[id] && !disks[id] {
			if free, err := p.take(ctx, c, id, owner); err != nil || free {
				return attempt + probes, id, err
			}
		}
	}
	return 0, 0, provider.Exhausted.New("", reasonRange, fmt.Errorf("every VMID from %d to %d is in use, by a VM or by a disk, or planned for a machine", first, first+size-1), "widen spec.proxmox.vmidRange, or remove VMs and disks")
}

// take reserves an ID that is free, unless another owner has just reserved it: of two that are
// planned at the same time, one would lose the call that clones, and wait until it knows.
func (p *platform) take(ctx context.Context, c *cluster, id number, owner string) (bool, error) {
	if free, err := p.free(ctx, c, id); err != nil || !free {
		return false, err
	}
	by, err := p.reserved.Get(ctx, strconv.Itoa(int(id)), func(context.Context) (string, error) { return owner, nil })
	return by == owner, err
}

// free asks whether an ID is in use, also by a VM that the credentials may not see.
func (p *platform) free(ctx context.Context, c *cluster, id number) (bool, error) {
	if c.guests[id] {
		return false, nil
	}
	var next number
	err := p.get(ctx, "/cluster/nextid", url.Values{"vmid": {strconv.Itoa(int(id))}}, &next)
	if said, ok := errors.AsType[*answerError](err); ok && (said.status == 400 || taken(err)) {
		return false, nil
	}
	return err == nil, err
}
