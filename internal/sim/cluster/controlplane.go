// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package cluster is the Kubernetes of emulated machines: a real control plane
// with the PKI of their configuration, and a stand-in for the kubelet, which
// registers the node and declares its pods running without running anything.
package cluster

import (
	"context"
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
}

// Admission is the configuration of an admission plugin.
type Admission struct {
	Name          string
	Configuration map[string]any
}

// Start runs the control plane and returns when its API server is ready.
func Start(ctx context.Context, c ControlPlane) (*plane.Plane, error) {
	args := []string{"--enable-admission-plugins=NodeRestriction"}
	if len(c.Admission) > 0 {
		path, err := c.writeAdmission()
		if err != nil {
			return nil, fmt.Errorf("write admission configuration: %w", err)
		}
		args = append(args, "--admission-control-config-file="+path)
	}
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
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(c.Dir, "admission.yaml")
	return path, plane.WriteFile(path, data)
}

// controllers are those that an on-premises cluster needs; the ones that serve
// volumes, cloud providers and autoscaling have nothing to do here.
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
