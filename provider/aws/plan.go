// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/butlerdotdev/butler/provider"
)

// attempt is what one attempt to create a machine asks for, beside the spec. It is
// recorded before the call, so that the same call can be repeated.
type attempt struct {
	Number   int    `json:"number"`
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
	number := 0
	if before, err := readAttempt(last.Record); err == nil {
		number = before.Number
		if reason := provider.ReasonOf(last.Refused); last.Refused != nil && (reason == provider.ReasonCapacityExhausted || reason == reasonAttemptSpent) {
			number++
		}
	}
	a, err := m.resolve(ctx, s, number)
	if err != nil {
		return "", within(op, err)
	}
	record, err := json.Marshal(a)
	return string(record), err
}

func readAttempt(record string) (a attempt, err error) {
	if err = json.Unmarshal([]byte(record), &a); err == nil && (a.Subnet == "" || a.Type == "" || a.Image == "" || a.Device == "") {
		err = errors.New("subnet, type, image or device is missing")
	}
	return a, err
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
	at := spread(subnets, numberOf(s.Name), number)
	size, err := m.sizeFor(ctx, s, string(image.Architecture), value(at.AvailabilityZone))
	if err != nil {
		return attempt{}, err
	}
	snapshot, least := root(image)
	if least > s.DiskGB {
		return attempt{}, provider.Invalid.New("", provider.ReasonImageInvalid, fmt.Errorf("image %s needs a root disk of %d GB, and %d are asked for", value(image.ImageId), least, s.DiskGB), "raise diskGB")
	}
	return attempt{
		Number: number, Subnet: value(at.SubnetId), Zone: value(at.AvailabilityZone), Type: size.name,
		Image: value(image.ImageId), Device: value(image.RootDeviceName), Snapshot: snapshot, IPv6: hasIPv6(at),
	}, nil
}

// within names what was tried in an error of a lookup.
func within(op string, err error) error {
	mapped := apiError(op, err)
	if e, ok := errors.AsType[*provider.Error](mapped); ok && e.Op == "" {
		e.Op = op
	}
	return mapped
}

// Tokens of the driver begin with a mark of the owner, so that a machine which another
// program created with the same tags can be distinguished.
const tokenPrefix = "butler-"

func ownerMark(owner provider.Owner) string {
	sum := sha256.Sum256([]byte(owner.ID))
	return tokenPrefix + hex.EncodeToString(sum[:8]) + "-"
}

// token identifies a call: the same owner, attempt and request have the same one. It has
// at most 64 characters.
func token(owner provider.Owner, number int, request *ec2.RunInstancesInput) (string, error) {
	content, err := json.Marshal(request)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", number, content))
	return ownerMark(owner) + hex.EncodeToString(sum[:16]), nil
}

// original reports whether the driver created what has this token. Tags are copied to
// clones and restored backups, tokens are not.
func original(token string, owner provider.Owner) bool {
	return strings.HasPrefix(token, ownerMark(owner))
}
