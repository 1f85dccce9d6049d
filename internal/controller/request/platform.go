// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// Reasons of a request whose platform is not the one that answers.
const (
	ReasonPlatformChanged = "PlatformChanged"
	ReasonPlatformUnknown = "PlatformUnknown"
)

// Recorded returns the platform that a request was taken for, empty if none is
// recorded.
func Recorded(o client.Object) provider.Identity {
	return provider.Identity(o.GetAnnotations()[v1alpha1.AnnotationPlatform])
}

// SamePlatform refuses a connection to another platform than the one that a
// ProviderConfig's requests are on.
func SamePlatform(config *v1alpha1.ProviderConfig, p *provider.Platform) error {
	return Changed("use ProviderConfig "+config.Name, provider.Identity(config.Status.Platform), p.Identity)
}

// joins refuses a connection to another platform than the one that the request was
// taken for, or, before that, than the one that others of its ProviderConfig are
// on. Kind Unavailable: nothing is created, released or reported as lost meanwhile.
func (c *Claim) joins(config *v1alpha1.ProviderConfig, p *provider.Platform) error {
	c.platform = p.Identity
	if Recorded(c.Object) != "" {
		return Changed("look after "+c.What, Recorded(c.Object), p.Identity)
	}
	if err := SamePlatform(config, p); err != nil {
		return Changed("look after "+c.What, provider.Identity(config.Status.Platform), p.Identity)
	}
	return nil
}

// Changed is the refusal of a platform that is not the recorded one, nil if it may be
// the same.
func Changed(op string, recorded, now provider.Identity) error {
	if recorded.Compare(now) != provider.Different {
		return nil
	}
	return &provider.Error{
		Kind: provider.Unavailable, Reason: ReasonPlatformChanged, Op: op,
		Err: fmt.Errorf("the credentials are for another platform (%s) than the one it is on (%s)", now, recorded),
		Hint: "restore the credentials and the endpoint of the first platform; if this one has replaced it for good, " +
			"remove the annotation " + v1alpha1.AnnotationPlatform + " from the requests of the ProviderConfig",
	}
}

// Confirm compares what the platform shows with what is recorded. A request without
// a record gets one once the platform shows what was asked for. Where it shows nothing,
// again says that it has to be asked once more: the recorded platform answers by now,
// but another one may have answered before.
func (c *Claim) Confirm(ctx context.Context, shown bool) (again bool, err error) {
	if shown {
		return false, c.seen(ctx)
	}
	known := c.checked
	return Recorded(c.Object) != "" && !known, c.Recheck(ctx)
}

// Recheck refuses to believe, and to use, a platform that by now is not the recorded
// one, or cannot be compared with it.
func (c *Claim) Recheck(ctx context.Context) error {
	r := Recorded(c.Object)
	if r == "" || c.checked {
		return nil
	}
	now, err := c.identify(ctx)
	if err != nil {
		return err
	}
	if err := Changed("look after "+c.What, r, now); err != nil {
		return err
	}
	if r.Compare(now) == provider.Same {
		c.checked = true
		return nil
	}
	return &provider.Error{
		Kind: provider.Unavailable, Reason: ReasonPlatformUnknown, Op: "look after " + c.What,
		Err: fmt.Errorf("the platform does not show it, and the credentials may not read whether this is the platform it is on (%s)", Recorded(c.Object)),
		Hint: "grant them what identifies the platform, see the provider's guide; if this is the platform, " +
			"remove the annotation " + v1alpha1.AnnotationPlatform,
	}
}

func (c *Claim) seen(ctx context.Context) error {
	if Recorded(c.Object) != "" || c.platform == "" || !c.Object.GetDeletionTimestamp().IsZero() {
		return nil
	}
	return c.patch(ctx, c.recordPlatform)
}

// recordPlatform is part of a write that is made anyway.
func (c *Claim) recordPlatform() {
	if c.platform != "" && Recorded(c.Object) == "" {
		c.annotate(v1alpha1.AnnotationPlatform, string(c.platform))
	}
}
