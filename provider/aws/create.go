// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// Create creates the instance with its disks and its interface in one call. A repeated
// call has the same token, so that it returns the same instance. Names are not unique on
// EC2: that of another owner is looked up before.
func (m machines) Create(ctx context.Context, s provider.MachineSpec) (provider.Machine, error) {
	op := fmt.Sprintf("create machine %q on %s", s.Name, m.config)
	if err := refuseSpec(op, s); err != nil {
		return provider.Machine{}, err
	}
	if there, err := m.existing(ctx, op, s.MachineRef); err != nil || there != nil {
		return reported(there, s.MachineRef), err
	}
	a, err := m.attempt(ctx, op, s)
	if err != nil {
		return provider.Machine{}, err
	}
	request, err := m.request(op, s, a)
	if err != nil {
		return provider.Machine{}, err
	}
	out, err := m.ec2.RunInstances(ctx, request)
	if err != nil {
		return provider.Machine{}, m.runError(op, a, err)
	}
	if len(out.Instances) == 0 {
		return provider.Machine{}, provider.Unavailable.New(op, provider.ReasonPlatformUnavailable, errors.New("the response names no instance"), cloud.HintAgain)
	}
	created := out.Instances[0]
	if terminated(created) {
		return provider.Machine{}, provider.Invalid.New(op, provider.ReasonAttemptSpent, fmt.Errorf("the instance of an earlier call, %s, is terminated%s", value(created.InstanceId), because(created)), "it is retried as another attempt")
	}
	return report(created, s.MachineRef), nil
}

func reported(i *types.Instance, ref provider.MachineRef) provider.Machine {
	if i == nil {
		return provider.Machine{}
	}
	return report(*i, ref)
}

// existing returns the instance of the owner. One of another owner with the name is a
// Conflict.
func (m machines) existing(ctx context.Context, op string, ref provider.MachineRef) (*types.Instance, error) {
	mine, err := m.byOwner.Do(ctx, ref.Owner.ID)
	if err != nil {
		return nil, apiError(op, err)
	}
	if i, ok := pick(mine[ref.Owner.ID], ref.Owner); ok && !terminated(i) {
		return &i, nil
	}
	return nil, m.free(ctx, op, ref)
}

// free refuses a name that an instance of another owner has.
func (p *platform) free(ctx context.Context, op string, ref provider.MachineRef) error {
	named, err := p.byName.Do(ctx, ref.Name)
	if err != nil {
		return apiError(op, err)
	}
	for _, i := range named[ref.Name] {
		if !terminated(i) && !own(i, ref.Owner) {
			return provider.NameTaken(op, fmt.Sprintf("instance %s with the name %q", value(i.InstanceId), ref.Name), "machineName")
		}
	}
	return nil
}

// attempt returns what the recorded attempt asks for; without a record the first one is
// resolved here.
func (m machines) attempt(ctx context.Context, op string, s provider.MachineSpec) (attempt, error) {
	if s.Attempt == "" {
		a, err := m.resolve(ctx, s, 0)
		return a, within(op, err)
	}
	var a attempt
	err := cloud.ReadRecord(op, s.Attempt, &a, func() error { return m.checkAttempt(a) })
	return a, err
}

// checkAttempt refuses a record that lacks something, or that the settings do not allow any more.
func (m machines) checkAttempt(a attempt) error {
	if a.Type == "" || a.Image == "" || a.Device == "" {
		return errors.New("type, image or device is missing")
	}
	if !slices.Contains(m.spec.SubnetIDs, a.Subnet) {
		return errors.New("its subnet " + a.Subnet + " is not in spec.aws.subnetIDs")
	}
	return nil
}

// runError adds to a refusal what was asked for.
func (m machines) runError(op string, a attempt, err error) error {
	mapped := apiError(op, err)
	if e, ok := mapped.(*provider.Error); ok && e.Kind == provider.Exhausted { //nolint:errorlint // apiError has just created it
		e.Err = fmt.Errorf("%s in %s: %w", a.Type, a.Zone, e.Err)
	}
	return mapped
}
