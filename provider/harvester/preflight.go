// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/check"
)

// preflight implements provider.Preflight.
type preflight struct{ *machines }

// Check looks at trust, permissions, images, network, storage classes, capacity and
// names. Without machines it looks at what the ProviderConfig itself names.
func (p preflight) Check(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	found, err := check.Run(ctx, specs, p.trust, p.permissions, p.identified, p.images, p.addressable, p.networks, p.classes, p.capacity, p.names)
	if err != nil {
		return nil, apiError("check "+p.config, err)
	}
	return found, nil
}

// trust warns of a kubeconfig that does not verify whom it sends its token to.
func (p preflight) trust(context.Context, []provider.MachineSpec) ([]provider.Finding, error) {
	if !p.insecure {
		return nil, nil
	}
	return []provider.Finding{{
		Check: "certificate of Harvester", Verdict: provider.Unknown,
		Message: "the kubeconfig has insecure-skip-tls-verify: any server that answers at its address gets the credentials",
		Hint:    "put Harvester's certificate authority into certificate-authority-data instead",
	}}, nil
}

// images looks at every image that is wanted, and at the class for disks from
// it.
func (p preflight) images(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	if len(specs) == 0 && p.spec.ImageName != "" {
		specs = []provider.MachineSpec{{}} // what a machine without an image of its own gets
	}
	byName := map[string]provider.MachineSpec{}
	for _, s := range specs {
		byName[s.Image] = s
	}
	var all []provider.Finding
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		found, err := p.oneImage(ctx, byName[name])
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func (p preflight) oneImage(ctx context.Context, s provider.MachineSpec) ([]provider.Finding, error) {
	i, err := p.image("", s)
	if err != nil {
		f, err := check.Verdict("image", err)
		return []provider.Finding{f}, err
	}
	class, err := p.imageClass(ctx, "", i)
	f, err := check.Verdict("image "+i.id(), err)
	if err != nil || f.Verdict == provider.Refused || class == "" {
		return []provider.Finding{f}, err
	}
	c, err := check.Verdict("storage class "+class+" of image "+i.id(), p.checkClass(ctx, "", class))
	if c.Verdict == provider.Refused && f.Verdict == provider.Unknown {
		c.Hint = "the image names another one, which the credentials cannot read: " + hintImages
	}
	return []provider.Finding{f, c}, err
}

func (p preflight) networks(ctx context.Context, _ []provider.MachineSpec) ([]provider.Finding, error) {
	f, err := check.Verdict("network "+p.spec.NetworkName, p.checkNetwork(ctx, ""))
	return []provider.Finding{f}, err
}

// classes looks at the classes of extra disks.
func (p preflight) classes(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	names := map[string]bool{p.spec.StorageClassName: true}
	for _, s := range specs {
		for _, class := range p.diskClasses(s) {
			names[class] = true
		}
	}
	delete(names, "")
	return check.Each(sorted(names), func(name string) (provider.Finding, error) {
		return check.Verdict("storage class "+name, p.checkClass(ctx, "", name))
	})
}

// names looks for objects of other owners that have the name of one that a machine
// needs.
func (p preflight) names(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	return check.Each(specs, func(s provider.MachineSpec) (provider.Finding, error) {
		return check.Verdict("name "+s.Name, p.taken(ctx, s))
	})
}

func (p preflight) taken(ctx context.Context, s provider.MachineSpec) error {
	for _, o := range append([]client.Object{p.virtualMachine(s, disks{})}, p.parts(s, disks{})...) {
		err := p.api.Get(ctx, client.ObjectKeyFromObject(o), o)
		if client.IgnoreNotFound(err) != nil {
			return apiError("", err)
		}
		if err == nil && !owned(o, s.Owner) {
			return conflict("", o)
		}
	}
	return nil
}
