// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterapi

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"
)

// read makes a scope of the spec of an infrastructure cluster in namespace tenant.
func read(t *testing.T, k kind, spec string, others ...client.Object) *scope {
	t.Helper()
	infra, cluster := k.object("Cluster"), &unstructured.Unstructured{Object: map[string]any{}}
	content := map[string]any{}
	if err := yaml.Unmarshal([]byte(spec), &content); err != nil {
		t.Fatal(err)
	}
	infra.Object["spec"] = content
	infra.SetNamespace("tenant")
	infra.SetName("demo")
	cluster.SetName("demo")
	return &scope{Client: fake.NewClientBuilder().WithObjects(others...).Build(), kind: k, cluster: cluster, infra: infra}
}

func secret(namespace, name string, data map[string]string) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string][]byte{}}
	for k, v := range data {
		s.Data[k] = []byte(v)
	}
	return s
}

func identity(version, kind, namespace, spec string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	content := map[string]any{}
	if err := yaml.Unmarshal([]byte(spec), &content); err != nil {
		panic(err)
	}
	u.Object["spec"] = content
	u.SetAPIVersion(infrastructureGroup + "/" + version)
	u.SetKind(kind)
	u.SetNamespace(namespace)
	u.SetName("id")
	return u
}

func TestInfrastructureClustersAreReadyOrSayWhyNot(t *testing.T) {
	p := Platforms{}
	const aws = "{region: r, controlPlaneLoadBalancer: {loadBalancerType: disabled}, network: {vpc: {id: vpc-1}}, identityRef: {kind: AWSClusterStaticIdentity, name: id}%s}"
	keys := secret("capa-system", "keys", map[string]string{"AccessKeyID": "a", "SecretAccessKey": "b"})
	allowed := identity("v1beta2", "AWSClusterStaticIdentity", "", "{secretRef: keys, allowedNamespaces: {list: [tenant]}}")
	endpoint := ", controlPlaneEndpoint: {host: 10.0.0.1, port: 6443}"
	azureID := identity("v1beta1", "AzureClusterIdentity", "tenant", "{tenantID: t, clientID: c, clientSecret: {name: s, namespace: tenant}, allowedNamespaces: {list: [tenant]}}")
	login := secret("tenant", "pc", map[string]string{"credentials": `[{"type":"basic_auth","data":{"prismCentral":{"username":"u","password":"p"}}}]`})
	for reason, tc := range map[string]struct {
		kind   kind
		spec   string
		others []client.Object
		want   string // part of the error; empty: ready
		waits  bool
	}{
		"aws with all it needs":               {awsKind(p), strings.ReplaceAll(aws, "%s", endpoint), []client.Object{keys, allowed}, "", false},
		"aws waits for the endpoint":          {awsKind(p), strings.ReplaceAll(aws, "%s", ""), []client.Object{keys, allowed}, "controlPlaneEndpoint", true},
		"aws with a load balancer of its own": {awsKind(p), "{region: r}", nil, "loadBalancerType", false},
		"aws without a VPC":                   {awsKind(p), "{controlPlaneLoadBalancer: {loadBalancerType: disabled}}", nil, "vpc", false},
		"aws without an identity":             {awsKind(p), strings.ReplaceAll(aws, "%s", endpoint), nil, "not found", false},
		"aws whose identity allows no namespace": {
			awsKind(p), strings.ReplaceAll(aws, "%s", endpoint),
			[]client.Object{keys, identity("v1beta2", "AWSClusterStaticIdentity", "", "{secretRef: keys}")}, "not permitted", false,
		},
		"gcp makes its own load balancer":           {gcpKind(p), "{}", nil, "managed-by", false},
		"kubevirt takes a Service of its own":       {kubevirtKind(), "{}", nil, "managed-by", false},
		"harvester never gets an address":           {harvesterKind(), "{controlPlaneEndpoint: {host: 10.0.0.1, port: 6443}}", nil, "placeholder", false},
		"azure with a control plane of its own":     {azureKind(p), "{controlPlaneEndpoint: {host: 10.0.0.1, port: 6443}}", nil, "controlPlaneEnabled", false},
		"azure with all it needs":                   {azureKind(p), "{controlPlaneEnabled: false, identityRef: {name: id, namespace: tenant}" + endpoint + "}", []client.Object{azureID, secret("tenant", "s", nil)}, "", false},
		"azure waits for the endpoint":              {azureKind(p), "{controlPlaneEnabled: false, identityRef: {name: id, namespace: tenant}}", []client.Object{azureID, secret("tenant", "s", nil)}, "controlPlaneEndpoint", true},
		"nutanix needs no endpoint":                 {nutanixKind(p), "{prismCentral: {credentialRef: {name: pc}}}", []client.Object{login}, "", false},
		"nutanix with credentials in another form":  {nutanixKind(p), "{prismCentral: {credentialRef: {name: pc}}}", []client.Object{secret("tenant", "pc", map[string]string{"credentials": "u:p"})}, "basic_auth", false},
		"proxmox without an external control plane": {proxmoxKind(p), "{}", nil, "externalManagedControlPlane", false},
		"proxmox waits for the endpoint":            {proxmoxKind(p), "{externalManagedControlPlane: true}", nil, "controlPlaneEndpoint", true},
		"proxmox without addresses":                 {proxmoxKind(p), "{externalManagedControlPlane: true" + endpoint + "}", nil, "at least one IP pool config", false},
		"proxmox without credentials":               {proxmoxKind(p), "{externalManagedControlPlane: true, ipv4Config: {addresses: [10.0.0.8-10.0.0.9], prefix: 24}, credentialsRef: {name: c}" + endpoint + "}", nil, "credentials", false},
	} {
		err := tc.kind.cluster(t.Context(), read(t, tc.kind, tc.spec, tc.others...))
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) || errors.Is(err, errWait) != tc.waits {
			t.Errorf("%s: %v, want %q", reason, err, tc.want)
		}
	}
}

func TestUserDataThatTalosWouldNotGetIsRefused(t *testing.T) {
	keys := secret("capa-system", "keys", nil)
	allowed := identity("v1beta2", "AWSClusterStaticIdentity", "", "{secretRef: keys, allowedNamespaces: {list: [tenant]}}")
	aws := read(t, awsKind(Platforms{}), "{identityRef: {kind: AWSClusterStaticIdentity, name: id}}", keys, allowed)
	o := order{spec: map[string]any{}, userData: []byte("x")}
	if _, err := awsRequest(t.Context(), aws, o); err == nil || !strings.Contains(err.Error(), "insecureSkipSecretsManager") {
		t.Errorf("aws: %v", err)
	}
	azureID := identity("v1beta1", "AzureClusterIdentity", "tenant", "{clientSecret: {name: s, namespace: tenant}, allowedNamespaces: {list: [tenant]}}")
	azure := read(t, azureKind(Platforms{}), "{identityRef: {name: id, namespace: tenant}}", azureID, secret("tenant", "s", nil))
	if _, err := azureRequest(t.Context(), azure, o); err == nil || !strings.Contains(err.Error(), "disableExtensionOperations") {
		t.Errorf("azure: %v", err)
	}
}

func TestOnlyNutanixTakesAFailedCreationAsFinal(t *testing.T) {
	for _, name := range []string{"aws", "gcp", "azure", "proxmox", "nutanix", "kubevirt", "harvester"} {
		k, err := kindOf(name, Platforms{})
		if err != nil {
			t.Fatal(err)
		}
		if k.silent != (name == "gcp") || k.terminal != (name == "nutanix") || k.ignoresManagedBy != (name == "nutanix" || name == "harvester") || k.ignoresPause != (name == "harvester") {
			t.Errorf("%s: %+v", name, k)
		}
	}
	if _, err := kindOf("vsphere", Platforms{}); err == nil {
		t.Error("an unknown provider is played")
	}
}
