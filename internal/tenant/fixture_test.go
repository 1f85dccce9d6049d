// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenant_test

import (
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/tenant"
)

// load reads testdata/inputs/NAME.yaml: a ProviderConfig, its credentials and a TenantCluster,
// with the defaults that an API server would set.
func load(t *testing.T, name string) tenant.Input {
	t.Helper()
	var f struct {
		Provider    v1alpha1.ProviderConfig
		Cluster     v1alpha1.TenantCluster
		Config      *v1alpha1.ButlerConfig
		Credentials map[string]string
		Resolved    tenant.Resolved
		Addresses   tenant.Addresses
		Host        tenant.Host
		// ExposureAddress is that of the Gateway or of the ingress controller.
		ExposureAddress string
	}
	read(t, filepath.Join("testdata", "inputs", "cluster.yaml"), &f)
	read(t, filepath.Join("testdata", "inputs", name+".yaml"), &f)
	in := tenant.Input{
		Cluster: &f.Cluster, Provider: &f.Provider, Config: f.Config, Host: f.Host, Core: "v1beta1",
		Namespace: "shop-0a1b2c3d", ClusterID: "0a1b2c3d-0000-4000-8000-000000000001",
		Endpoint:        &tenant.Endpoint{Host: "10.40.0.210", Port: 6443},
		BootstrapSecret: "shop-workers-1234abcd", TrustdTag: "v0.4.0", Resolved: f.Resolved, Addresses: f.Addresses,
		ExposureAddress: f.ExposureAddress,
	}
	if known := tenant.KnownEndpoint(in); known != nil {
		in.Endpoint = known
	}
	for key, value := range f.Credentials {
		if in.Credentials == nil {
			in.Credentials = map[string][]byte{}
		}
		in.Credentials[key] = []byte(value)
	}
	return in
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(data, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// inputs are the names of all inputs.
func inputs(t *testing.T) (names []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("testdata", "inputs", "*.yaml"))
	if err != nil || len(found) < 8 {
		t.Fatalf("inputs are missing: %v, %v", found, err)
	}
	for _, f := range found {
		if name := filepath.Base(f); name != "cluster.yaml" {
			names = append(names, name[:len(name)-len(".yaml")])
		}
	}
	return names
}

func build(t *testing.T, in tenant.Input) tenant.Objects {
	t.Helper()
	o, err := tenant.Build(in)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
