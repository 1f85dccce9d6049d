// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// unowned reports whether another program holds the request with the same finalizer:
// a claim here gives the request an owner id in the same write.
func (c *Claim) unowned() bool {
	return c.Held() && c.Object.GetAnnotations()[v1alpha1.AnnotationOwnerID] == "" && Attempted(c.Object).IsZero()
}

// NeverServed reports whether nothing on the platform can belong to the request:
// another program holds it, and never had a machine for it.
func (c *Claim) NeverServed(id string) bool { return c.unowned() && id == "" }

// BeginAdoption gives a request that another program has served an owner id, if its
// annotation names the machine. Until the machine is tagged with it, the annotation
// stays: whatever happens in between, Adopt is asked again.
func (c *Claim) BeginAdoption(ctx context.Context, machine, id string) error {
	named := c.Object.GetAnnotations()[v1alpha1.AnnotationAdopt]
	if !c.unowned() || named == "" {
		return nil
	}
	if named != machine || id == "" {
		return c.refuseAdoption(fmt.Errorf("the annotation %s is %q, spec.machineName %q and status.providerID %q", v1alpha1.AnnotationAdopt, named, machine, id),
			"only the machine that the request had can be adopted: correct the annotation, or remove it")
	}
	return c.patch(ctx, func() {
		c.annotate(v1alpha1.AnnotationOwnerID, uuid.NewString())
		c.stamp("")
	})
}

// Adopt tags the machine of a request whose adoption has begun, and then ends that.
func (c *Claim) Adopt(ctx context.Context, p *provider.Platform, ref provider.MachineRef, id string) error {
	if _, begun := c.Object.GetAnnotations()[v1alpha1.AnnotationAdopt]; !begun {
		return nil
	}
	if p.Adopt == nil {
		return c.refuseAdoption(errors.New("the platform cannot adopt machines"), "remove the annotation "+v1alpha1.AnnotationAdopt)
	}
	asked, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	if err := p.Adopt(asked, ref, id); err != nil {
		return err
	}
	return c.patch(ctx, func() {
		a := c.Object.GetAnnotations()
		delete(a, v1alpha1.AnnotationAdopt)
		c.Object.SetAnnotations(a)
	})
}

func (c *Claim) refuseAdoption(err error, hint string) error {
	return provider.Invalid.New("adopt "+c.What, provider.ReasonAdoptionRefused, err, hint)
}
