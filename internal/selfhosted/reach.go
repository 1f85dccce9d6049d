// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package selfhosted is this machine's side of a cluster that manages itself: how to
// reach it, how its plane moves there and back, and which plane is in charge.
package selfhosted

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
	// CallPatience is how long a cluster has for an answer.
	CallPatience = 10 * time.Second
)

// MovedAway reports whether another plane than the one that holds the
// ClusterBootstrap is in charge of its cluster.
func MovedAway(cb *v1alpha1.ClusterBootstrap) bool { return cb != nil && v1alpha1.Fenced(cb) }

// RESTConfig returns the configuration of a client for the cluster of a
// ClusterBootstrap, as its administrator: through its endpoint, or else a control
// plane. Credentials that are about to expire are renewed first.
func RESTConfig(ctx context.Context, c client.Client, cb *v1alpha1.ClusterBootstrap, dial workspace.Dialer) (*rest.Config, error) {
	kubeconfig, err := ReadCredential(ctx, c, cb, bootstrap.SecretKubeconfig, dial, false)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", cb.Spec.Cluster.Name, err)
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
	config.Dial = withFallback(dial, addresses)
	config.QPS = -1
	return config, nil
}

// withFallback dials the given address, and if that does not answer the same port of
// other addresses.
func withFallback(dial workspace.Dialer, addresses []string) workspace.Dialer {
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

// newBoundedClient returns a client whose calls have a timeout. It cannot watch.
func newBoundedClient(config *rest.Config) (client.Client, error) {
	config = rest.CopyConfig(config)
	config.Timeout = CallPatience
	return workspace.NewClient(config)
}

// ConnectInCharge switches the operation to the plane that is in charge of the cluster,
// and returns the ClusterBootstrap on it. It waits for the cluster to answer.
func ConnectInCharge(ctx context.Context, o *operation.Operation, cb *v1alpha1.ClusterBootstrap, progress *ui.Reporter) (*v1alpha1.ClusterBootstrap, error) {
	o.UseLocalPlane()
	if !MovedAway(cb) {
		return cb, nil
	}
	scheme, err := program.Scheme()
	if err != nil {
		return nil, err
	}
	v := &connection{Workspace: o.Workspace, local: o.Local, cluster: cb, dial: o.Dial()}
	for {
		there, err := v.ask(ctx)
		if err == nil {
			c, err := client.NewWithWatch(v.config, client.Options{Scheme: scheme})
			if err == nil {
				o.UseClusterPlane(c)
			}
			return there, err
		}
		if IsPermanent(err) {
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

// ReadInCharge calls f with a client of the plane that is in charge, and with the
// ClusterBootstrap on it; nil if there is none. If that plane is a cluster that does not
// answer, f gets the state of this machine's plane, and the error.
func ReadInCharge(ctx context.Context, w workspace.Workspace, f func(client.Client, *v1alpha1.ClusterBootstrap, error) error) error {
	return w.ReadPlane(ctx, func(c client.Client) error {
		cb, err := w.FindCluster(ctx, c)
		if err != nil {
			return err
		}
		if !MovedAway(cb) {
			return f(c, cb, nil)
		}
		there, now, err := Connect(ctx, w, c, cb)
		if err != nil {
			return f(c, cb, err)
		}
		return f(there, now, nil)
	})
}

// Connect returns a client of the cluster that a ClusterBootstrap has moved to, and the
// ClusterBootstrap on it.
func Connect(ctx context.Context, w workspace.Workspace, c client.Client, cb *v1alpha1.ClusterBootstrap) (client.Client, *v1alpha1.ClusterBootstrap, error) {
	dial, err := w.NewDialer()
	if err != nil {
		return nil, nil, err
	}
	v := &connection{Workspace: w, local: c, cluster: cb, dial: dial}
	now, err := v.ask(ctx)
	return v.client, now, err
}

// OnCluster calls f with a client of the cluster itself, whichever plane is in charge of it:
// tenant clusters are there. The calls of the client have a timeout.
func OnCluster(ctx context.Context, w workspace.Workspace, f func(client.Client) error) error {
	return w.ReadPlane(ctx, func(local client.Client) error {
		cb, err := w.FindCluster(ctx, local)
		if err != nil {
			return err
		}
		if cb == nil {
			return w.AbsentError()
		}
		c, err := ConnectAsAdministrator(ctx, w, local, cb)
		if err != nil {
			return err
		}
		return f(c)
	})
}

// ConnectAsAdministrator returns a client of the cluster itself, whichever plane is in charge
// of it; local is that of this machine. The calls of the client have a timeout.
func ConnectAsAdministrator(ctx context.Context, w workspace.Workspace, local client.Client, cb *v1alpha1.ClusterBootstrap) (client.Client, error) {
	if MovedAway(cb) {
		c, _, err := Connect(ctx, w, local, cb)
		return c, err
	}
	dial, err := w.NewDialer()
	if err != nil {
		return nil, err
	}
	config, err := RESTConfig(ctx, local, cb, dial)
	if err != nil {
		return nil, err
	}
	return newBoundedClient(config)
}
