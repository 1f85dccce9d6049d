// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
)

// attempt is what one attempt to create a machine asks for, beside the spec. It is
// recorded before the call, so that the same call can be repeated.
type attempt struct {
	cloud.Attempt
	Zone     string           `json:"zone,omitempty"`
	Size     string           `json:"size"`
	Image    string           `json:"image"`
	Plan     *armcompute.Plan `json:"plan,omitempty"`
	Location string           `json:"location"`
	Subnet   string           `json:"subnet,omitempty"` // its id; a record of an earlier version has none
	Disk     string           `json:"disk"`             // the type of disks
	Encrypts bool             `json:"encrypts,omitempty"`
	Set      bool             `json:"set,omitempty"` // it is in the availability set
}

// plan chooses zone, size and image of the next attempt. After a stock-out it is in the
// next zone.
func (m machines) plan(ctx context.Context, s provider.MachineSpec, last provider.Attempt) (string, error) {
	op := fmt.Sprintf("plan machine %q on %s", s.Name, m.config)
	a, err := m.resolve(ctx, s, cloud.Next(last))
	if err != nil {
		return "", within(op, err)
	}
	return cloud.Record(a)
}

// attempt returns what the recorded attempt asks for; without a record the first one is
// resolved here.
func (m machines) attempt(ctx context.Context, op string, s provider.MachineSpec) (attempt, error) {
	if s.Attempt == "" {
		a, err := m.resolve(ctx, s, 0)
		return a, within(op, err)
	}
	a := attempt{Subnet: m.subnetID()}
	return a, cloud.ReadRecord(op, s.Attempt, &a, func() error {
		if a.Size == "" || a.Image == "" || a.Location == "" || a.Disk == "" {
			return errors.New("size, image, location or disk is missing")
		}
		return nil
	})
}

// choose returns what the first attempt asks for.
func (m machines) choose(ctx context.Context, s provider.MachineSpec) (provider.Choice, error) {
	a, err := m.resolve(ctx, s, 0)
	return provider.Choice{Size: a.Size, Zone: a.Zone, Image: a.Image}, within(fmt.Sprintf("plan machine %q on %s", s.Name, m.config), err)
}

// resolve looks up what the attempt of this number asks for.
func (m machines) resolve(ctx context.Context, s provider.MachineSpec, number int) (attempt, error) {
	if _, err := m.subnet(ctx); err != nil {
		return attempt{}, err
	}
	if m.spec.SecurityGroupName == "" {
		return attempt{}, provider.Invalid.New("", provider.ReasonNetworkNotFound, errors.New("spec.azure.securityGroupName is empty"), "set it; the preflight lists candidates")
	}
	image, err := m.image(ctx, s)
	if err != nil {
		return attempt{}, err
	}
	if image.leastGB > s.DiskGB {
		return attempt{}, provider.Invalid.New("", provider.ReasonImageInvalid, fmt.Errorf("image %s needs a root disk of %d GB, and %d are requested", image.reference, image.leastGB, s.DiskGB), "raise diskGB")
	}
	spots, err := m.spots(ctx, s, image)
	if err != nil {
		return attempt{}, err
	}
	at, err := m.location(ctx)
	if err != nil {
		return attempt{}, err
	}
	spot := spots[(cloud.NumberOf(s.Name)+number)%len(spots)]
	a := attempt{
		Attempt: cloud.Attempt{Number: number}, Zone: spot.zone, Size: spot.size.Name, Image: image.reference, Plan: image.plan, Location: at, Subnet: m.subnetID(),
		Disk: string(armcompute.StorageAccountTypesPremiumLRS), Set: spot.zone == "" && s.Role == v1alpha1.RoleControlPlane && s.Owner.ClusterID != "",
	}
	if !spot.size.premium {
		a.Disk = string(armcompute.StorageAccountTypesStandardSSDLRS)
	}
	if spot.size.encrypts {
		a.Encrypts, err = m.encryptsAtHost(ctx)
	}
	return a, err
}

// encryptsAtHost reports whether the subscription has registered encryption at host. Where
// that may not be read, disks are encrypted by the storage service alone.
func (p *platform) encryptsAtHost(ctx context.Context) (bool, error) {
	return p.features.Get(ctx, "", func(ctx context.Context) (bool, error) {
		path := "/subscriptions/" + p.spec.SubscriptionID + "/providers/Microsoft.Features/providers/Microsoft.Compute/features/EncryptionAtHost"
		f, err := read[feature](ctx, p.clients, path, versionFeatures)
		if kind := provider.KindOf(apiError("", err)); err != nil && (kind == provider.Unauthorized || kind == provider.Invalid) {
			return false, nil
		}
		return f.Properties.State == "Registered", err
	})
}

// diskTypes are those that need no further setting.
func diskTypes() []string {
	return []string{
		string(armcompute.StorageAccountTypesPremiumLRS), string(armcompute.StorageAccountTypesStandardSSDLRS), string(armcompute.StorageAccountTypesStandardLRS),
		string(armcompute.StorageAccountTypesPremiumZRS), string(armcompute.StorageAccountTypesStandardSSDZRS),
	}
}

// diskType is the type of an extra disk.
func diskType(op string, d v1alpha1.DiskSpec, ordinary string) (string, error) {
	if d.StorageClass == "" {
		return ordinary, nil
	}
	if slices.Contains(diskTypes(), d.StorageClass) {
		return d.StorageClass, nil
	}
	return "", provider.Invalid.New(op, provider.ReasonFieldUnsupported, fmt.Errorf("extraDisks has storageClass %q", d.StorageClass), "use Premium_LRS, StandardSSD_LRS, Standard_LRS, Premium_ZRS or StandardSSD_ZRS")
}
