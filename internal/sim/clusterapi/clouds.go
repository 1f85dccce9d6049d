// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterapi

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

// smallest is what a driver is asked for where the size is that of the instance type.
func smallest(disk int64) provider.MachineSpec {
	return provider.MachineSpec{CPU: 1, MemoryMB: 1024, DiskGB: int32(disk)}
}

// awaitEndpoint is the rule of providers that take the endpoint from the control plane.
func awaitEndpoint(s *scope) error {
	if s.text("spec", "controlPlaneEndpoint", "host") == "" || numberOf(s.infra.Object, "spec", "controlPlaneEndpoint", "port") == 0 {
		return waitFor("spec.controlPlaneEndpoint")
	}
	return nil
}

// tagged returns the id of the cluster that tags of an object name.
func tagged(style tag.Style, o map[string]any, path ...string) string {
	tags, _, _ := unstructured.NestedStringMap(o, path...)
	return style.Read(tags).ClusterID
}

func awsKind(p Platforms) kind {
	return kind{
		name: "aws", prefix: "AWS", version: "v1beta2", shows: awsShows, connect: p.connect(awsRequest),
		cluster: func(ctx context.Context, s *scope) error {
			if s.text("spec", "controlPlaneLoadBalancer", "loadBalancerType") != "disabled" {
				return errors.New("the rehearsal does not play the load balancer of the provider: set spec.controlPlaneLoadBalancer.loadBalancerType to disabled")
			}
			if s.text("spec", "network", "vpc", "id") == "" {
				return errors.New("the rehearsal does not play the VPC of the provider: set spec.network.vpc.id")
			}
			if _, err := s.awsKeys(ctx); err != nil {
				return err
			}
			return awaitEndpoint(s)
		},
	}
}

// awsKeys are those of the identity of the cluster, which has to allow its namespace.
func (s *scope) awsKeys(ctx context.Context) (map[string][]byte, error) {
	kind, name := s.text("spec", "identityRef", "kind"), s.text("spec", "identityRef", "name")
	if kind != "AWSClusterStaticIdentity" {
		return nil, fmt.Errorf("the pod of the provider has no identity of its own on the simulated AWS: identityRef must be an AWSClusterStaticIdentity, not %q", kind)
	}
	identity, err := get(ctx, s, infrastructureGroup+"/v1beta2", kind, "", name)
	if err != nil || identity == nil {
		return nil, errors.Join(err, fmt.Errorf("%s %q not found", kind, name))
	}
	if err := allows(identity, s.infra.GetNamespace()); err != nil {
		return nil, err
	}
	data, err := s.secret(ctx, "capa-system", textOf(identity.Object, "spec", "secretRef"))
	if err != nil {
		return nil, fmt.Errorf("credentials of %s %s: %w", kind, name, err)
	}
	return map[string][]byte{
		v1alpha1.KeyAccessKeyID: data["AccessKeyID"], v1alpha1.KeySecretAccessKey: data["SecretAccessKey"], v1alpha1.KeySessionToken: data["SessionToken"],
	}, nil
}

// allows reads allowedNamespaces: without them no namespace is allowed.
func allows(identity *unstructured.Unstructured, namespace string) error {
	list, _, _ := unstructured.NestedStringSlice(identity.Object, "spec", "allowedNamespaces", "list")
	if slices.Contains(list, namespace) {
		return nil
	}
	return fmt.Errorf("%s %s %w in namespace %s", identity.GetKind(), identity.GetName(), errNotAllowed, namespace)
}

func awsRequest(ctx context.Context, s *scope, o order) (request, error) {
	keys, err := s.awsKeys(ctx)
	if err != nil {
		return request{}, err
	}
	if !boolOf(o.spec, "cloudInit", "insecureSkipSecretsManager") && o.userData != nil {
		return request{}, errors.New("the rehearsal has no Secrets Manager: set cloudInit.insecureSkipSecretsManager, without which Talos reads no user data")
	}
	aws := &v1alpha1.AWSSpec{
		Region: s.text("spec", "region"), VPCID: s.text("spec", "network", "vpc", "id"), InstanceType: textOf(o.spec, "instanceType"),
		AMI: textOf(o.spec, "ami", "id"), PublicIP: boolOf(o.spec, "publicIP"), IAMInstanceProfile: textOf(o.spec, "iamInstanceProfile"),
		SubnetIDs: []string{textOf(o.spec, "subnet", "id")},
	}
	if group := s.text("spec", "network", "securityGroupOverrides", "node"); group != "" {
		aws.SecurityGroupIDs = append(aws.SecurityGroupIDs, group)
	}
	for _, g := range nested(o.spec, "additionalSecurityGroups") {
		aws.SecurityGroupIDs = append(aws.SecurityGroupIDs, textOf(g, "id"))
	}
	return request{
		config: v1alpha1.ProviderConfigSpec{Provider: v1alpha1.ProviderAWS, AWS: aws}, credentials: keys,
		machine: smallest(numberOf(o.spec, "rootVolume", "size")), clusterID: tagged(tag.AWS(), o.spec, "additionalTags"),
	}, nil
}

func gcpKind(p Platforms) kind {
	return kind{
		name: "gcp", prefix: "GCP", version: "v1beta1", silent: true, connect: p.connect(gcpRequest),
		cluster: func(context.Context, *scope) error {
			return errors.New("the provider would create instance groups and a load balancer, which the rehearsal does not play; " +
				"annotate the GCPCluster with cluster.x-k8s.io/managed-by")
		},
	}
}

func gcpRequest(ctx context.Context, s *scope, o order) (request, error) {
	data, err := s.secret(ctx, s.text("spec", "credentialsRef", "namespace"), s.text("spec", "credentialsRef", "name"))
	if err != nil {
		return request{}, fmt.Errorf("credentials: %w", err)
	}
	if o.zone == "" {
		zones, _, _ := unstructured.NestedStringSlice(s.infra.Object, "spec", "failureDomains")
		if len(zones) == 0 {
			return request{}, errors.New("no failure domain: set it on the Machine, or spec.failureDomains of the GCPCluster")
		}
		o.zone = zones[0]
	}
	gcp := &v1alpha1.GCPSpec{
		ProjectID: s.text("spec", "project"), Region: s.text("spec", "region"), Zone: o.zone, Network: s.text("spec", "network", "name"),
		Subnetwork: textOf(o.spec, "subnet"), MachineType: textOf(o.spec, "instanceType"), PublicIP: boolOf(o.spec, "publicIP"),
		ServiceAccount: textOf(o.spec, "serviceAccounts", "email"),
	}
	gcp.Tags, _, _ = unstructured.NestedStringSlice(o.spec, "additionalNetworkTags")
	gcp.Tags = append(gcp.Tags, o.cluster, o.cluster+"-node")
	image, family := textOf(o.spec, "image"), textOf(o.spec, "imageFamily")
	if image != "" {
		gcp.Image, gcp.ImageProject = path.Base(image), projectIn(image)
	} else {
		gcp.ImageFamily, gcp.ImageProject = path.Base(family), projectIn(family)
	}
	return request{
		config:      v1alpha1.ProviderConfigSpec{Provider: v1alpha1.ProviderGCP, GCP: gcp},
		credentials: map[string][]byte{v1alpha1.KeyServiceAccountKey: data["credentials"]},
		machine:     smallest(numberOf(o.spec, "rootDeviceSize")), clusterID: tagged(tag.GCP(), o.spec, "additionalLabels"),
	}, nil
}

// projectIn is the project of a full path.
func projectIn(image string) string {
	parts := strings.Split(image, "/")
	for i, p := range parts {
		if p == "projects" && i+1 < len(parts) {
			return parts[i+1]
		}
	}
	return ""
}

func azureKind(p Platforms) kind {
	return kind{
		name: "azure", prefix: "Azure", version: "v1beta1", shows: azureShows, connect: p.connect(azureRequest),
		cluster: func(ctx context.Context, s *scope) error {
			if enabled, found, _ := unstructured.NestedBool(s.infra.Object, "spec", "controlPlaneEnabled"); enabled || !found {
				return errors.New("the rehearsal does not play the load balancer of the provider: set spec.controlPlaneEnabled to false")
			}
			if _, err := s.azureKeys(ctx); err != nil {
				return err
			}
			return awaitEndpoint(s)
		},
	}
}

func (s *scope) azureKeys(ctx context.Context) (map[string][]byte, error) {
	name, namespace := s.text("spec", "identityRef", "name"), s.text("spec", "identityRef", "namespace")
	identity, err := get(ctx, s, infrastructureGroup+"/v1beta1", "AzureClusterIdentity", namespace, name)
	if err != nil || identity == nil {
		return nil, errors.Join(err, fmt.Errorf("AzureClusterIdentity %s/%s not found", namespace, name))
	}
	if err := allows(identity, s.infra.GetNamespace()); err != nil {
		return nil, err
	}
	data, err := s.secret(ctx, textOf(identity.Object, "spec", "clientSecret", "namespace"), textOf(identity.Object, "spec", "clientSecret", "name"))
	if err != nil {
		return nil, fmt.Errorf("credentials of AzureClusterIdentity %s: %w", name, err)
	}
	return map[string][]byte{
		v1alpha1.KeyTenantID: []byte(textOf(identity.Object, "spec", "tenantID")), v1alpha1.KeyClientID: []byte(textOf(identity.Object, "spec", "clientID")),
		v1alpha1.KeyClientSecret: data["clientSecret"],
	}, nil
}

func azureRequest(ctx context.Context, s *scope, o order) (request, error) {
	keys, err := s.azureKeys(ctx)
	if err != nil {
		return request{}, err
	}
	if !boolOf(o.spec, "disableExtensionOperations") && o.userData != nil {
		return request{}, errors.New("the extension that checks the bootstrap finds no file of cloud-init on Talos: set disableExtensionOperations")
	}
	azure := &v1alpha1.AzureSpec{
		SubscriptionID: s.text("spec", "subscriptionID"), ResourceGroup: s.text("spec", "resourceGroup"), Location: s.text("spec", "location"),
		VNetName: s.text("spec", "networkSpec", "vnet", "name"), VMSize: textOf(o.spec, "vmSize"), PublicIP: boolOf(o.spec, "allocatePublicIP"),
		SubnetName: textOf(o.spec, "subnetName"), ImageURN: azureImage(o.spec),
	}
	for _, i := range nested(o.spec, "networkInterfaces") {
		azure.SubnetName = textOf(i, "subnetName")
	}
	for _, n := range nested(s.infra.Object, "spec", "networkSpec", "subnets") {
		if textOf(n, "name") == azure.SubnetName {
			azure.SecurityGroupName = textOf(n, "securityGroup", "name")
		}
	}
	return request{
		config: v1alpha1.ProviderConfigSpec{Provider: v1alpha1.ProviderAzure, Azure: azure}, credentials: keys,
		machine: smallest(numberOf(o.spec, "osDisk", "diskSizeGB")), clusterID: tagged(tag.Azure(), o.spec, "additionalTags"),
	}, nil
}

func azureImage(spec map[string]any) string {
	if m, found, _ := unstructured.NestedMap(spec, "image", "marketplace"); found {
		return strings.Join([]string{textOf(m, "publisher"), textOf(m, "offer"), textOf(m, "sku"), textOf(m, "version")}, ":")
	}
	if g, found, _ := unstructured.NestedMap(spec, "image", "computeGallery"); found {
		return fmt.Sprintf("/CommunityGalleries/%s/Images/%s/Versions/%s", textOf(g, "gallery"), textOf(g, "name"), textOf(g, "version"))
	}
	return textOf(spec, "image", "id")
}
