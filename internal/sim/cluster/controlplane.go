// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package cluster is the Kubernetes of emulated machines: a real control plane
// with the PKI of their configuration, and a stand-in for the kubelet, which
// registers the node and declares its pods running. Only images of this project are
// run, as processes of this machine.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/internal/plane"
)

// ControlPlane says what a cluster's control plane is made of.
type ControlPlane struct {
	Dir         string // etcd's data and all else; starting again in it continues the cluster
	Executable  string // as in plane.Options
	Holder      string
	PKI         plane.PKI
	Names       []string // addresses and names in the API server's certificate
	ServiceCIDR string
	Admission   []Admission
	Services    *Services // where the API server finds services and pods; nil: nowhere
	Version     string    // that the API server reports; empty: its own
}

// Admission is the configuration of an admission plugin.
type Admission struct {
	Name          string
	Configuration map[string]any
}

// Start runs the control plane and returns when its API server is ready.
func Start(ctx context.Context, c ControlPlane) (*plane.Plane, error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, err
	}
	// Pods of a CNI and of storage are privileged.
	args := []string{"--enable-admission-plugins=NodeRestriction", "--allow-privileged=true"}
	if c.Version != "" {
		args = append(args, plane.ReportVersion+c.Version)
	}
	if len(c.Admission) > 0 {
		path, err := c.writeAdmission()
		if err != nil {
			return nil, fmt.Errorf("write admission configuration: %w", err)
		}
		args = append(args, "--admission-control-config-file="+path)
	}
	if c.Services == nil {
		return c.start(ctx, args)
	}
	return c.startWithServices(ctx, args)
}

// startWithServices has the network of services live as long as the plane does.
func (c ControlPlane) startWithServices(ctx context.Context, args []string) (*plane.Plane, error) {
	e, err := c.Services.open(c.Dir)
	if err != nil {
		return nil, err
	}
	path, err := c.writeEgress(e)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write egress configuration: %w", err), e.Close())
	}
	p, err := c.start(ctx, append(args, "--egress-selector-config-file="+path))
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	followCtx, end := context.WithCancel(context.Background())
	go func() {
		defer e.close()
		defer end()
		<-p.Done()
	}()
	go func() {
		if err := c.Services.follow(followCtx, p.Config()); err != nil {
			c.Services.Log.Warn("nothing is known of services", "error", err)
		}
	}()
	return p, nil
}

func (c ControlPlane) start(ctx context.Context, args []string) (*plane.Plane, error) {
	return plane.Start(ctx, plane.Options{
		Dir:         c.Dir,
		Executable:  c.Executable,
		Holder:      c.Holder,
		PKI:         &c.PKI,
		Names:       c.Names,
		ServiceCIDR: c.ServiceCIDR,
		Controllers: controllers(),
		Scheduler:   true,
		Args:        args,
	})
}

func (c ControlPlane) writeEgress(e *egress) (string, error) {
	data, err := e.configuration()
	if err != nil {
		return "", err
	}
	path := filepath.Join(c.Dir, "egress.yaml")
	return path, plane.WriteFile(path, data)
}

func (c ControlPlane) writeAdmission() (string, error) {
	var plugins []map[string]any
	for _, a := range c.Admission {
		plugins = append(plugins, map[string]any{"name": a.Name, "configuration": a.Configuration})
	}
	data, err := yaml.Marshal(map[string]any{
		"apiVersion": "apiserver.config.k8s.io/v1",
		"kind":       "AdmissionConfiguration",
		"plugins":    plugins,
	})
	if err != nil {
		return "", err
	}
	path := filepath.Join(c.Dir, "admission.yaml")
	return path, plane.WriteFile(path, data)
}

// controllers are those that an on-premises cluster needs; the ones that attach
// volumes, or serve cloud providers and autoscaling, have nothing to do here.
func controllers() []string {
	return []string{
		"certificatesigningrequest-approving-controller",
		"certificatesigningrequest-cleaner-controller",
		"certificatesigningrequest-signing-controller",
		"clusterrole-aggregation-controller",
		"cronjob-controller",
		"daemonset-controller",
		"deployment-controller",
		"disruption-controller",
		"endpoints-controller",
		"endpointslice-controller",
		"garbage-collector-controller",
		"job-controller",
		"namespace-controller",
		"node-lifecycle-controller",
		"persistentvolume-binder-controller",
		"persistentvolume-protection-controller",
		"persistentvolumeclaim-protection-controller",
		"pod-garbage-collector-controller",
		"replicaset-controller",
		"replicationcontroller-controller",
		"resourcequota-controller",
		"root-ca-certificate-publisher-controller",
		"serviceaccount-controller",
		"serviceaccount-token-controller",
		"statefulset-controller",
		"taint-eviction-controller",
		"ttl-after-finished-controller",
	}
}
