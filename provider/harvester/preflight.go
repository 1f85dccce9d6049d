// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"errors"
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/provider"
)

// preflight implements provider.Preflight.
type preflight struct{ *machines }

// Check looks at trust, permissions, images, network, storage classes, capacity and
// names. Without machines it looks at what the ProviderConfig itself names.
func (p preflight) Check(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	var all []provider.Finding
	for _, look := range []func(context.Context, []provider.MachineSpec) ([]provider.Finding, error){
		p.trust, p.permissions, p.identified, p.images, p.networks, p.classes, p.capacity, p.names,
	} {
		found, err := look(ctx, specs)
		if err != nil {
			return nil, apiError("check "+p.config, err)
		}
		all = append(all, found...)
	}
	return all, nil
}

// finding turns the outcome of a look into a verdict. The error is for a platform
// that could not be asked.
func finding(check string, err error) (provider.Finding, error) {
	f := provider.Finding{Check: check, Verdict: provider.Passed}
	e, ok := errors.AsType[*provider.Error](err)
	switch {
	case err == nil:
		return f, nil
	case !ok:
		return f, err
	case forbidden(err), e.Reason == provider.ReasonImageNotReady:
		f.Verdict = provider.Unknown
	case e.Kind == provider.Invalid, e.Kind == provider.Conflict:
		f.Verdict = provider.Refused
	default:
		return f, err
	}
	f.Hint = e.Hint
	if e.Err != nil {
		f.Message = e.Err.Error()
	}
	return f, nil
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

// images looks at every image that is wanted, and at the class that makes disks
// from it.
func (p preflight) images(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	if len(specs) == 0 && p.place.ImageName != "" {
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
		f, err := finding("image", err)
		return []provider.Finding{f}, err
	}
	class, err := p.imageClass(ctx, "", i)
	f, err := finding("image "+i.id(), err)
	if err != nil || f.Verdict == provider.Refused || class == "" {
		return []provider.Finding{f}, err
	}
	c, err := finding("storage class "+class+" of image "+i.id(), p.checkClass(ctx, "", class))
	if c.Verdict == provider.Refused && f.Verdict == provider.Unknown {
		c.Hint = "the image names another one, which may not be read: " + hintImages
	}
	return []provider.Finding{f, c}, err
}

func (p preflight) networks(ctx context.Context, _ []provider.MachineSpec) ([]provider.Finding, error) {
	f, err := finding("network "+p.place.NetworkName, p.checkNetwork(ctx, ""))
	return []provider.Finding{f}, err
}

// classes looks at the classes of extra disks.
func (p preflight) classes(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	names := map[string]bool{p.place.StorageClassName: true}
	for _, s := range specs {
		for _, class := range p.diskClasses(s) {
			names[class] = true
		}
	}
	delete(names, "")
	var all []provider.Finding
	for _, name := range sorted(names) {
		f, err := finding("storage class "+name, p.checkClass(ctx, "", name))
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// names looks for objects of somebody else that have the name of one that a
// machine needs.
func (p preflight) names(ctx context.Context, specs []provider.MachineSpec) ([]provider.Finding, error) {
	var all []provider.Finding
	for _, s := range specs {
		f, err := finding("name "+s.Name, p.taken(ctx, s))
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
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
