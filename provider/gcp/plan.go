// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// attempt is what one attempt to create a machine asks for, beside the spec. It is
// recorded before the call, so that the same call can be repeated.
type attempt struct {
	cloud.Attempt
	// Shift counts the zones that had no room.
	Shift int    `json:"shift,omitempty"`
	Zone  string `json:"zone"`
	Type  string `json:"type"`
	Image string `json:"image"`
	Disk  string `json:"disk"` // the type of disks
	UEFI  bool   `json:"uefi,omitempty"`
	IPv6  bool   `json:"ipv6,omitempty"`
}

func (a *attempt) check() error {
	if a.Zone == "" || a.Type == "" || a.Image == "" || a.Disk == "" {
		return errors.New("zone, type, image or disk is missing")
	}
	return nil
}

// plan chooses zone, type and image of the next attempt. A repeated request ID gets the old
// operation back, so that one which was refused gets another number; after a stock-out it
// is in the next zone.
func (m machines) plan(ctx context.Context, s provider.MachineSpec, last provider.Attempt) (string, error) {
	op := fmt.Sprintf("plan machine %q on %s", s.Name, m.config)
	var before attempt
	number, shift := 0, 0
	if cloud.ReadRecord(op, last.Record, &before, before.check) == nil {
		number, shift = before.Number, before.Shift
		if last.Refused != nil {
			number++
		}
		if provider.ReasonOf(last.Refused) == provider.ReasonCapacityExhausted {
			shift++
		}
	}
	a, err := m.resolve(ctx, s, number, shift)
	if err != nil {
		return "", within(op, err)
	}
	return cloud.Record(a)
}

// choose returns what the first attempt asks for.
func (m machines) choose(ctx context.Context, s provider.MachineSpec) (provider.Choice, error) {
	a, err := m.resolve(ctx, s, 0, 0)
	return provider.Choice{Size: a.Type, Zone: a.Zone, Image: a.Image}, within(fmt.Sprintf("plan machine %q on %s", s.Name, m.config), err)
}

// resolve looks up what an attempt asks for.
func (m machines) resolve(ctx context.Context, s provider.MachineSpec, number, shift int) (attempt, error) {
	zones, err := m.zoneNames(ctx)
	if err != nil {
		return attempt{}, err
	}
	subnet, err := m.subnet(ctx)
	if err != nil {
		return attempt{}, err
	}
	image, err := m.image(ctx, s)
	if err != nil {
		return attempt{}, err
	}
	zone := cloud.Spread(zones, itself, cloud.NumberOf(s.Name), shift)
	size, err := m.sizeFor(ctx, s, architecture(image), zone)
	if err != nil {
		return attempt{}, err
	}
	if least := image.GetDiskSizeGb(); least > int64(s.DiskGB) {
		return attempt{}, provider.Invalid.New("", provider.ReasonImageInvalid, fmt.Errorf("image %s needs a disk of %d GB, and %d are requested", image.GetName(), least, s.DiskGB), "raise diskGB")
	}
	return attempt{
		Attempt: cloud.Attempt{Number: number}, Shift: shift, Zone: zone, Type: size.Name, Image: pathOf(image.GetSelfLink()),
		Disk: diskType(size.Family), UEFI: hasUEFI(image), IPv6: hasIPv6(subnet),
	}, nil
}

// attempt returns what the recorded attempt asks for. Without a record it is the first one
// whose request ID no operation of the platform has used up.
func (m machines) attempt(ctx context.Context, op string, s provider.MachineSpec) (attempt, error) {
	if s.Attempt == "" {
		number, err := m.unspent(ctx, s.MachineRef)
		if err != nil {
			return attempt{}, within(op, err)
		}
		a, err := m.resolve(ctx, s, number, 0)
		return a, within(op, err)
	}
	zones, err := m.zoneNames(ctx)
	if err != nil {
		return attempt{}, within(op, err)
	}
	var a attempt
	return a, cloud.ReadRecord(op, s.Attempt, &a, func() error {
		if a.Zone != "" && !slices.Contains(zones, a.Zone) {
			return errors.New("its zone " + a.Zone + " is not a zone of the ProviderConfig")
		}
		return a.check()
	})
}

// within names what was tried in an error of a lookup.
func within(op string, err error) error { return cloud.WithOp(op, apiError(op, err)) }

// requests is the namespace of request IDs.
var requests = uuid.MustParse("5d0f0a2e-6a1c-4f0b-9d2b-0c8f6f0d7b11")

// requestID identifies an operation: the same owner, zone and number of the attempt have
// the same one. Its last four bytes are the number.
func requestID(owner provider.Owner, zone string, number int) string {
	id := uuid.NewSHA1(requests, fmt.Appendf(nil, "%s %s %s", owner.ID, opInsert, zone))
	binary.BigEndian.PutUint32(id[12:], uint32(number))
	return id.String()
}
