// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/sim/cluster"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// runCloudManager initialises nodes, whichever API server runs, as soon as the cloud lets
// the manager in.
func (n *node) runCloudManager(ctx context.Context, pod *corev1.Pod, platform string) {
	manager := &cluster.CloudManager{Find: n.emulator.finder(platform), Log: n.log}
	for before := (*plane.Plane)(nil); ; {
		p, err := n.cluster.awaitPlane(ctx, before)
		if err != nil {
			return
		}
		inner, end := whileRuns(ctx, p)
		if n.admitCloudManager(inner, p, pod, platform) == nil {
			go func() {
				if err := cluster.RunCloudBalancers(inner, p.Config(), n.cloud(platform)); err != nil {
					n.log.Warn("services get no addresses", "error", err)
				}
			}()
			if err := manager.Run(inner, p.Config()); err != nil {
				n.log.Warn("nodes are not initialised", "error", err)
			}
		}
		end()
		before = p
	}
}

// cloud is where load balancers of the node's cluster are.
func (n *node) cloud(platform string) cluster.Cloud {
	c := cluster.Cloud{Platform: platform, Name: n.emulator.options.Network.Name}
	if n.machine.Metadata != nil {
		c.Region = n.machine.Metadata.Region
	}
	return c
}

// admitCloudManager returns nil when the manager has credentials for its cloud.
func (n *node) admitCloudManager(ctx context.Context, p *plane.Plane, pod *corev1.Pod, platform string) error {
	for last := ""; ; {
		err := n.checkCloudAccess(ctx, p, pod, platform)
		if err == nil || ctx.Err() != nil {
			return err
		}
		if err.Error() != last {
			last = err.Error()
			n.log.Warn("the cloud controller manager does not get in", "error", err)
		}
		if !pause(ctx, retry) {
			return ctx.Err()
		}
	}
}

var errNoInstance = errors.New("instance not found")

// finder returns how the manager of a platform finds the machines that are on.
func (e *Emulator) finder(platform string) func(providerID, node string) (cluster.Instance, error) {
	return func(providerID, node string) (cluster.Instance, error) {
		e.mu.Lock()
		defer e.mu.Unlock()
		for _, m := range e.machines {
			if m.Metadata == nil || m.Metadata.Platform != platform {
				continue
			}
			if providerID == m.Metadata.ProviderID || providerID == "" && node == instanceName(m) {
				return instanceOf(m), nil
			}
		}
		if providerID == "" {
			return cluster.Instance{}, fmt.Errorf("%w: the node has no provider ID, and no instance is called %s", errNoInstance, node)
		}
		return cluster.Instance{}, fmt.Errorf("%w: %s", errNoInstance, providerID)
	}
}

// instanceName is what a node without a provider ID must be called: on AWS the private DNS
// name of its instance, elsewhere the name of the machine.
func instanceName(m datacenter.Machine) string {
	if m.Metadata.Platform == "aws" {
		return m.Metadata.Hostname
	}
	return m.Name
}

func instanceOf(m datacenter.Machine) cluster.Instance {
	i := cluster.Instance{
		ProviderID: m.Metadata.ProviderID, Type: m.Metadata.InstanceType, Zone: m.Zone, Region: m.Metadata.Region,
		Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: m.Address.Addr().String()}},
	}
	for _, public := range m.Public() {
		i.Addresses = append(i.Addresses, corev1.NodeAddress{Type: corev1.NodeExternalIP, Address: public.String()})
	}
	if m.Metadata.Hostname != "" {
		i.Addresses = append(i.Addresses,
			corev1.NodeAddress{Type: corev1.NodeInternalDNS, Address: m.Metadata.Hostname},
			corev1.NodeAddress{Type: corev1.NodeHostName, Address: m.Metadata.Hostname})
	}
	return i
}
