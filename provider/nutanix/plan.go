// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"context"
	"errors"
	"fmt"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// attempt is what one attempt to create a machine asks for, beside the spec. It is recorded
// before the call: names in the settings may mean something else later.
type attempt struct {
	cloud.Attempt
	Image   string `json:"image"`
	Subnet  string `json:"subnet"`
	Project string `json:"project,omitempty"`
	// Containers are those of the root disk and of the extra disks, in their order.
	Containers []string `json:"containers"`
}

func (a *attempt) check(s provider.MachineSpec) error {
	if a.Image == "" || a.Subnet == "" || len(a.Containers) != 1+len(s.ExtraDisks) {
		return errors.New("image, subnet or a storage container is missing")
	}
	return nil
}

// plan looks up image, subnet, containers and project of the next attempt.
func (m machines) plan(ctx context.Context, s provider.MachineSpec, last provider.Attempt) (string, error) {
	op := fmt.Sprintf("plan machine %q on %s", s.Name, m.config)
	a, err := m.resolve(ctx, s, cloud.Next(last))
	if err != nil {
		return "", within(op, err)
	}
	return cloud.Record(a)
}

// choose returns the image that the first attempt asks for.
func (m machines) choose(ctx context.Context, s provider.MachineSpec) (provider.Choice, error) {
	found, err := m.imageFor(ctx, s)
	return provider.Choice{Image: found.name}, within(fmt.Sprintf("plan machine %q on %s", s.Name, m.config), err)
}

// attempt returns what the recorded attempt asks for, or looks it up if nothing is recorded.
func (m machines) attempt(ctx context.Context, op string, s provider.MachineSpec) (a attempt, err error) {
	if s.Attempt == "" {
		a, err = m.resolve(ctx, s, 0)
		return a, within(op, err)
	}
	return a, cloud.ReadRecord(op, s.Attempt, &a, func() error { return a.check(s) })
}

// resolve looks up what an attempt asks for.
func (m machines) resolve(ctx context.Context, s provider.MachineSpec, number int) (a attempt, err error) {
	a.Number = number
	if _, err := m.home(ctx); err != nil {
		return a, err
	}
	net, err := m.network(ctx)
	if err != nil {
		return a, err
	}
	if s.Network != nil {
		if err := checkAddress(net, *s.Network); err != nil {
			return a, err
		}
	}
	picture, err := m.imageFor(ctx, s)
	if err != nil {
		return a, err
	}
	if need := (picture.sizeBytes + 1<<30 - 1) >> 30; need > int64(s.DiskGB) {
		return a, provider.Invalid.New("", provider.ReasonImageInvalid, fmt.Errorf("image %s needs a disk of %d GB, and %d are requested", picture.name, need, s.DiskGB), "raise diskGB")
	}
	if a.Project, err = m.projectFor(ctx); err != nil {
		return a, err
	}
	for _, d := range append([]v1alpha1.DiskSpec{{}}, s.ExtraDisks...) {
		id, err := m.containerOfDisk(ctx, d)
		if err != nil {
			return a, err
		}
		a.Containers = append(a.Containers, id)
	}
	a.Image, a.Subnet = picture.uuid, net.uuid
	return a, nil
}
