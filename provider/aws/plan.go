// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// attempt is what one attempt to create a machine asks for, beside the spec. It is
// recorded before the call, so that the same call can be repeated.
type attempt struct {
	cloud.Attempt
	Subnet   string `json:"subnet"`
	Zone     string `json:"zone"`
	Type     string `json:"type"`
	Image    string `json:"image"`
	Device   string `json:"device"` // the root disk's
	Snapshot string `json:"snapshot,omitempty"`
	IPv6     bool   `json:"ipv6,omitempty"`
}

// plan chooses subnet, type and image of the next attempt. After a stock-out it is in the
// next zone; an attempt whose token is used up gets another number.
func (m machines) plan(ctx context.Context, s provider.MachineSpec, last provider.Attempt) (string, error) {
	op := fmt.Sprintf("plan machine %q on %s", s.Name, m.config)
	a, err := m.resolve(ctx, s, cloud.Next(last))
	if err != nil {
		return "", within(op, err)
	}
	return cloud.Record(a)
}

// choose returns what the first attempt asks for.
func (m machines) choose(ctx context.Context, s provider.MachineSpec) (provider.Choice, error) {
	a, err := m.resolve(ctx, s, 0)
	return provider.Choice{Size: a.Type, Zone: a.Zone, Image: a.Image}, within(fmt.Sprintf("plan machine %q on %s", s.Name, m.config), err)
}

// resolve looks up what the attempt of this number asks for.
func (m machines) resolve(ctx context.Context, s provider.MachineSpec, number int) (attempt, error) {
	if err := m.checkGroups(); err != nil {
		return attempt{}, err
	}
	subnets, err := m.subnets(ctx)
	if err != nil {
		return attempt{}, err
	}
	architecture, err := m.architecture(ctx)
	if err != nil {
		return attempt{}, err
	}
	image, err := m.image(ctx, s, architecture)
	if err != nil {
		return attempt{}, err
	}
	at := spread(subnets, s.Name, number)
	size, err := m.sizeFor(ctx, s, string(image.Architecture), value(at.AvailabilityZone))
	if err != nil {
		return attempt{}, err
	}
	snapshot, least := root(image)
	if least > s.DiskGB {
		return attempt{}, provider.Invalid.New("", provider.ReasonImageInvalid, fmt.Errorf("image %s needs a root disk of %d GB, and %d are requested", value(image.ImageId), least, s.DiskGB), "raise diskGB")
	}
	return attempt{
		Attempt: cloud.Attempt{Number: number}, Subnet: value(at.SubnetId), Zone: value(at.AvailabilityZone), Type: size.Name,
		Image: value(image.ImageId), Device: value(image.RootDeviceName), Snapshot: snapshot, IPv6: hasIPv6(at),
	}, nil
}

// within names what was tried in an error of a lookup.
func within(op string, err error) error {
	return cloud.WithOp(op, apiError(op, err))
}

// Tokens of the driver begin with a mark of the owner, so that a machine which another
// program created with the same tags can be distinguished.
const tokenPrefix = "butler-"

func ownerMark(owner provider.Owner) string {
	return tokenPrefix + cloud.Hash(16, owner.ID) + "-"
}

// token identifies a call: the same owner, attempt and request have the same one. It has
// at most 64 characters.
func token(owner provider.Owner, number int, request *ec2.RunInstancesInput) (string, error) {
	content, err := json.Marshal(request)
	if err != nil {
		return "", err
	}
	return ownerMark(owner) + cloud.Hash(32, decimal(int32(number)), string(content)), nil
}

// original reports whether the driver created what has this token. Tags are copied to
// clones and restored backups, tokens are not.
func original(token string, owner provider.Owner) bool {
	return strings.HasPrefix(token, ownerMark(owner))
}
