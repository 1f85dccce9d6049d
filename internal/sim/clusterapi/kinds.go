// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterapi

import (
	"context"
	"errors"
	"fmt"
)

// kindOf returns the infrastructure provider for a platform.
func kindOf(name string, p Platforms) (kind, error) {
	for _, k := range []kind{kubevirtKind(), harvesterKind(), awsKind(p), gcpKind(p), azureKind(p), nutanixKind(p), proxmoxKind(p)} {
		if k.name == name {
			return k, nil
		}
	}
	return kind{}, fmt.Errorf("the rehearsal plays no infrastructure provider %q", name)
}

// harvesterKind never has its endpoint: the simulated Harvester has no load balancer to give
// the placeholder of the provider an address, and the provider takes no other endpoint.
func harvesterKind() kind {
	return kind{
		name: "harvester", prefix: "Harvester", version: "v1alpha1", ignoresManagedBy: true, ignoresPause: true, setsNode: true,
		cluster: func(context.Context, *scope) error {
			return errors.New("the placeholder load balancer has no address: the simulated Harvester has no pool of addresses for load balancers")
		},
		connect: func(context.Context, *scope) (platform, error) {
			return nil, waitFor("the infrastructure of the cluster to be ready")
		},
	}
}
