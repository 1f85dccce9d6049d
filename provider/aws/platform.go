// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/cloud"
	"github.com/butlerdotdev/butler/provider/tag"
)

const (
	// briefly is how long images and subnets are kept: as long as the machines of one
	// cluster are requested.
	briefly = 5 * time.Second
	// gatherFor is how long those who ask for the identity wait for each other: many
	// deletions at once are answered together, each by a request that began after it asked.
	gatherFor = 200 * time.Millisecond
	// mostKeys is how many values one filter of a request has; EC2 accepts 200.
	mostKeys = 100
)

// platform is a connection to one region of one account.
type platform struct {
	clients
	spec   v1alpha1.AWSSpec
	config string

	// What many calls ask for at the same time is read with one request.
	byOwner  *cloud.Batch[map[string][]types.Instance]
	byName   *cloud.Batch[map[string][]types.Instance]
	remnants *cloud.Batch[map[string][]part]
	callers  *cloud.Batch[provider.Identity]
	settings *catalogue
	images   *cloud.Recent[[]types.Image]
	networks *cloud.Recent[[]types.Subnet]
	failing  *cloud.Recent[map[string]string] // status checks, by instance
}

func newPlatform(api clients, spec v1alpha1.AWSSpec, config string) *platform {
	p := &platform{clients: api, spec: spec, config: config}
	p.byOwner = cloud.NewBatch(mostKeys, p.instancesBy(tag.OwnerID))
	p.byName = cloud.NewBatch(mostKeys, p.instancesBy(tagName))
	p.remnants = cloud.NewBatch(mostKeys, p.partsBy)
	p.callers = cloud.NewBatch(mostKeys, p.caller).Apart(gatherFor)
	p.settings = newCatalogue(api.ec2)
	p.failing = cloud.NewRecent[map[string]string](checkInterval)
	p.images, p.networks = cloud.NewRecent[[]types.Image](briefly), cloud.NewRecent[[]types.Subnet](briefly)
	return p
}

// identify identifies the region of the account that the credentials belong to. It needs
// no permission.
func (p *platform) identify(ctx context.Context) (provider.Identity, error) {
	identity, err := p.callers.Do(ctx, "")
	if err != nil {
		return "", apiError("identify the account of "+p.config, err)
	}
	return identity, nil
}

func (p *platform) caller(ctx context.Context, _ []string) (provider.Identity, error) {
	who, err := p.sts.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return "", err
	}
	return provider.NewIdentity(provider.Mark{Name: "account", Value: value(who.Account) + "/" + p.spec.Region}), nil
}

// value is what a pointer of the SDK points to.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
