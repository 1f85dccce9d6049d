// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterapi

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// request is what an infrastructure machine asks of its platform, in the words of a driver.
type request struct {
	config      v1alpha1.ProviderConfigSpec
	credentials map[string][]byte
	machine     provider.MachineSpec
	clusterID   string // that the tags of the template say; empty: the UID of the Cluster
	// scheme of the provider ID where the platform has no cloud controller manager.
	scheme string
}

// translate reads an infrastructure machine and its cluster.
type translate func(context.Context, *scope, order) (request, error)

// driverPlatform speaks to a platform with a driver of this project.
type driverPlatform struct {
	scope     *scope
	translate translate
	platforms Platforms
}

func (p Platforms) connect(t translate) func(context.Context, *scope) (platform, error) {
	return func(_ context.Context, s *scope) (platform, error) {
		return &driverPlatform{scope: s, translate: t, platforms: p}, nil
	}
}

func (d *driverPlatform) open(ctx context.Context, o order) (request, provider.Platform, error) {
	r, err := d.translate(ctx, d.scope, o)
	if err != nil {
		return r, provider.Platform{}, err
	}
	r.machine.MachineRef = provider.MachineRef{Name: o.name, Owner: provider.Owner{ID: o.id, ClusterID: r.clusterID, Cluster: o.cluster}}
	if r.clusterID == "" {
		r.machine.Owner.ClusterID = string(d.scope.cluster.GetUID())
	}
	r.machine.Role, r.machine.UserData = v1alpha1.RoleWorker, provider.Sensitive(o.userData)
	for _, known := range d.platforms.Providers {
		if known.Type == r.config.Provider {
			p, err := known.Open(ctx, provider.Config{
				ProviderConfig: &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: o.cluster, Namespace: o.object.GetNamespace()}, Spec: r.config},
				Credentials:    provider.NewCredentials(r.credentials), Transport: d.platforms.Transport,
			})
			return r, p, err
		}
	}
	return r, provider.Platform{}, fmt.Errorf("this program has no driver for %s", r.config.Provider)
}

func (d *driverPlatform) ensure(ctx context.Context, o order) (instance, error) {
	r, p, err := d.open(ctx, o)
	if err != nil {
		return instance{}, err
	}
	defer closed(p)
	found, err := p.Machines.Observe(ctx, r.machine.MachineRef)
	if err == nil && (found.State == provider.StateAbsent || found.State == provider.StatePartial) {
		found, err = create(ctx, p, r.machine)
	}
	if err != nil {
		return instance{}, err
	}
	i := instance{running: found.State == provider.StateRunning, message: found.Message}
	if found.ID != "" && r.scheme != "" {
		i.providerID = r.scheme + found.ID
	}
	if found.NodeProviderID != "" {
		i.providerID = found.NodeProviderID
	}
	for _, a := range found.Addresses {
		i.addresses = append(i.addresses, a.String())
	}
	return i, nil
}

func create(ctx context.Context, p provider.Platform, s provider.MachineSpec) (provider.Machine, error) {
	if p.Plan != nil {
		record, err := p.Plan(ctx, s, provider.Attempt{})
		if err != nil {
			return provider.Machine{}, err
		}
		s.Attempt = record
	}
	return p.Machines.Create(ctx, s)
}

func (d *driverPlatform) remove(ctx context.Context, o order) (bool, error) {
	r, p, err := d.open(ctx, o)
	if err != nil {
		return false, err
	}
	defer closed(p)
	left, err := p.Machines.Delete(ctx, r.machine.MachineRef)
	return left.State == provider.StateAbsent, err
}

func closed(p provider.Platform) {
	if p.Close != nil {
		p.Close()
	}
}
