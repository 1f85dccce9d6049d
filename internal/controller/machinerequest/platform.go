// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// callTimeout bounds one call of a driver; none waits for the platform to finish.
const callTimeout = 30 * time.Second

// config returns the ProviderConfig of a request, or nil if there is none.
func (r *Reconciler) config(ctx context.Context, request *v1alpha1.MachineRequest) (*v1alpha1.ProviderConfig, error) {
	c := &v1alpha1.ProviderConfig{}
	err := r.Client.Get(ctx, configName(request), c)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return c, err
}

func configName(request *v1alpha1.MachineRequest) types.NamespacedName {
	ref := request.Spec.ProviderRef
	if ref.Namespace == "" {
		return types.NamespacedName{Namespace: request.Namespace, Name: ref.Name}
	}
	return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
}

func (p *pass) connect(ctx context.Context, config *v1alpha1.ProviderConfig) (*provider.Platform, error) {
	if config != nil {
		return p.Sessions.Platform(ctx, config)
	}
	return nil, &provider.Error{
		Kind: provider.Unavailable, Reason: reasonNoConfig,
		Op:   fmt.Sprintf("look after machine %q", p.request.Spec.MachineName),
		Err:  fmt.Errorf("ProviderConfig %s does not exist", configName(p.request)),
		Hint: "create it again; without it the machine can be neither watched nor deleted",
	}
}

func (p *pass) observe(ctx context.Context) (provider.Machine, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return p.platform.Machines.Observe(ctx, p.ref())
}

// act asks the platform for what was decided and takes its answer as the facts.
func (p *pass) act(ctx context.Context, a action) error {
	if a == create && p.facts.machine.State == provider.StateAbsent && !p.facts.fresh {
		// A locked write also proves that this pass has not read a stale request.
		if err := p.attempt(ctx); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	p.facts.asked = a
	if a == remove {
		p.remember(p.facts.machine, p.platform.Machines.Delete(ctx, p.ref()))
		return nil
	}
	absent := p.facts.machine.State == provider.StateAbsent
	m, err := p.platform.Machines.Create(ctx, p.spec())
	p.created = absent && err == nil
	p.note.missing = time.Time{}
	p.remember(m, err)
	return nil
}

func (p *pass) ref() provider.MachineRef {
	return provider.MachineRef{Name: p.request.Spec.MachineName, Owner: provider.Owner{
		ID:        p.request.Annotations[v1alpha1.AnnotationOwnerID],
		ClusterID: p.request.Annotations[v1alpha1.AnnotationClusterID],
	}}
}

func (p *pass) spec() provider.MachineSpec {
	s := p.request.Spec
	return provider.MachineSpec{
		MachineRef: p.ref(), Role: s.Role,
		CPU: s.CPU, MemoryMB: s.MemoryMB, DiskGB: s.DiskGB, ExtraDisks: s.ExtraDisks,
		Image: s.Image, UserData: provider.Sensitive(s.UserData), NetworkData: provider.Sensitive(s.NetworkData),
		Labels: s.Labels, TalosVersion: s.TalosVersion, Schematic: s.Schematic,
	}
}

func isProviderError(err error) bool {
	_, ok := errors.AsType[*provider.Error](err)
	return ok
}
