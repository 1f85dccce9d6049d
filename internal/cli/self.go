// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"net"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/controller/program"
	"github.com/butlerdotdev/butler/internal/operation"
	"github.com/butlerdotdev/butler/internal/ui"
	"github.com/butlerdotdev/butler/internal/workspace"
)

const (
	// dialPatience is how long one address of a cluster has to answer.
	dialPatience = 3 * time.Second
	// callPatience is how long a cluster has for an answer.
	callPatience = 10 * time.Second
)

// movedAway reports whether another plane than the one that holds the
// ClusterBootstrap is in charge of its cluster.
func movedAway(cb *v1alpha1.ClusterBootstrap) bool { return cb != nil && v1alpha1.Fenced(cb) }

// clusterConfig leads to the cluster that a ClusterBootstrap has made, as its
// administrator: by its endpoint, or past it to a control plane. Credentials that
// are about to run out are renewed first.
func clusterConfig(ctx context.Context, c client.Client, cb *v1alpha1.ClusterBootstrap, dial workspace.Dialer) (*rest.Config, error) {
	kubeconfig, err := credentialOf(ctx, c, cb, bootstrap.SecretKubeconfig, dial, false)
	if err != nil {
		return nil, fmt.Errorf("find the way to %s: %w", cb.Spec.Cluster.Name, err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("secret %s holds no kubeconfig", bootstrap.SecretName(cb.Spec.Cluster.Name, bootstrap.SecretKubeconfig))
	}
	var addresses []string
	for _, m := range cb.Status.Machines {
		if m.Role == v1alpha1.RoleControlPlane && m.IPAddress != "" {
			addresses = append(addresses, m.IPAddress)
		}
	}
	config.Dial = orElse(dial, addresses)
	config.QPS = -1
	return config, nil
}

// orElse dials what is asked for, and while that is silent the same port of other
// addresses.
func orElse(dial workspace.Dialer, addresses []string) workspace.Dialer {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := operation.DialWithin(ctx, dialPatience, dial, network, addr)
		_, port, _ := net.SplitHostPort(addr)
		for _, a := range addresses {
			if err == nil || ctx.Err() != nil {
				break
			}
			var other error
			if conn, other = operation.DialWithin(ctx, dialPatience, dial, network, net.JoinHostPort(a, port)); other == nil {
				return conn, nil
			}
		}
		return conn, err
	}
}

// bounded is a client whose calls end after a while, which a watch must not.
func bounded(config *rest.Config) (client.Client, error) {
	config = rest.CopyConfig(config)
	config.Timeout = callPatience
	return workspace.NewClient(config)
}

// turnToCluster makes the plane that is in charge of the cluster the one to work with,
// and returns the ClusterBootstrap that lies there. It waits for the cluster to
// answer.
func turnToCluster(ctx context.Context, o *operation.Operation, cb *v1alpha1.ClusterBootstrap, progress *ui.Reporter) (*v1alpha1.ClusterBootstrap, error) {
	o.UseLocalPlane()
	if !movedAway(cb) {
		return cb, nil
	}
	scheme, err := program.Scheme()
	if err != nil {
		return nil, err
	}
	v := &visit{Workspace: o.Workspace, local: o.Local, cluster: cb, dial: o.Dial()}
	for {
		there, err := v.ask(ctx)
		if err == nil {
			c, err := client.NewWithWatch(v.config, client.Options{Scheme: scheme})
			if err == nil {
				o.UseClusterPlane(c)
			}
			return there, err
		}
		if isLasting(err) {
			return nil, err
		}
		progress.Waiting(err.Error())
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(operation.RetryInterval):
		}
	}
}

// readInCharge calls f with a client of the plane that is in charge, and with the
// ClusterBootstrap that lies there; nil is none. If that plane is a cluster that
// cannot be asked, f gets what this machine's plane has, and why.
func readInCharge(ctx context.Context, w workspace.Workspace, f func(client.Client, *v1alpha1.ClusterBootstrap, error) error) error {
	return w.ReadPlane(ctx, func(c client.Client) error {
		cb, err := w.FindCluster(ctx, c)
		if err != nil {
			return err
		}
		if !movedAway(cb) {
			return f(c, cb, nil)
		}
		there, now, err := connectCluster(ctx, w, c, cb)
		if err != nil {
			return f(c, cb, err)
		}
		return f(there, now, nil)
	})
}

// connectCluster is a client of the cluster that a ClusterBootstrap has moved to, and the
// ClusterBootstrap that lies there.
func connectCluster(ctx context.Context, w workspace.Workspace, c client.Client, cb *v1alpha1.ClusterBootstrap) (client.Client, *v1alpha1.ClusterBootstrap, error) {
	dial, err := w.NewDialer()
	if err != nil {
		return nil, nil, err
	}
	v := &visit{Workspace: w, local: c, cluster: cb, dial: dial}
	now, err := v.ask(ctx)
	return v.client, now, err
}
