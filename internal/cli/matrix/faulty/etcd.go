// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim/network"
	"github.com/butlerdotdev/butler/internal/talos"
)

// bootstrapTwice has etcd begin on each control plane.
const bootstrapTwice = "bootstraptwice"

// bootstrapAll has etcd begin on each control plane by itself.
func bootstrapAll() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	nodes, addresses, err := controlPlanes(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "faulty:", err)
		return
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for _, address := range addresses {
		// A node that is still starting says no.
		for _, err := nodes.Bootstrap(ctx, address); err != nil && ctx.Err() == nil; _, err = nodes.Bootstrap(ctx, address) {
			<-tick.C
		}
	}
}

// controlPlanes are those of the only cluster on the local plane.
func controlPlanes(ctx context.Context) (*talos.Client, []string, error) {
	api, err := localPlane()
	if err != nil {
		return nil, nil, err
	}
	var all v1alpha1.ClusterBootstrapList
	if err := api.List(ctx, &all); err != nil || len(all.Items) != 1 {
		return nil, nil, errors.Join(err, fmt.Errorf("%d clusters", len(all.Items)))
	}
	cb := all.Items[0]
	secret := &corev1.Secret{}
	if err := api.Get(ctx, client.ObjectKey{Namespace: cb.Namespace, Name: cb.Spec.Cluster.Name + "-talosconfig"}, secret); err != nil {
		return nil, nil, err
	}
	proxy, err := os.ReadFile(filepath.Join(rehearsal(), "sim", "proxy"))
	if err != nil {
		return nil, nil, err
	}
	nodes, err := talos.NewClient(secret.Data["talosconfig"], network.Dialer(string(proxy)))
	if err == nil && !cb.Spec.Provider.OnPrem() {
		nodes = nodes.Through(func(string) talos.Route { return talos.Route{Host: cb.Status.ControlPlaneEndpoint, Forwarded: true} })
	}
	var addresses []string
	for _, m := range cb.Status.Machines {
		if m.Role == v1alpha1.RoleControlPlane {
			addresses = append(addresses, m.IPAddress)
		}
	}
	return nodes, addresses, err
}
