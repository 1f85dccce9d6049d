// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider/tag"
)

// azure is Azure through cluster-api-provider-azure.
type azure struct {
	Input
	spec v1alpha1.AzureSpec
}

func (azure) names() names {
	return names{version: "v1beta1", cluster: "AzureCluster", template: "AzureMachineTemplate"}
}

func (azure) warnings() []string { return nil }

func (a azure) text(key string) string { return strings.TrimRight(string(a.Credentials[key]), "\r\n") }

func (a azure) credentials() ([]*unstructured.Unstructured, error) {
	tenant, client, secret := a.text(v1alpha1.KeyTenantID), a.text(v1alpha1.KeyClientID), a.text(v1alpha1.KeyClientSecret)
	if tenant == "" || client == "" || secret == "" {
		return nil, ofSecret(strings.Join([]string{v1alpha1.KeyTenantID, v1alpha1.KeyClientID, v1alpha1.KeyClientSecret}, ", "),
			"tenant clusters on Azure need a service principal with a secret; put all three there")
	}
	name := a.credentialsName()
	return []*unstructured.Unstructured{
		a.secret(name, map[string]string{"clientSecret": secret}),
		a.new(infrastructureGroup+"/v1beta1", "AzureClusterIdentity", name, object{
			"type": "ServicePrincipal", "tenantID": tenant, "clientID": client,
			"clientSecret":      object{"name": name, "namespace": a.Namespace},
			"allowedNamespaces": object{"list": []any{a.Namespace}},
		}),
	}, nil
}

func (a azure) subnet() string {
	if o := a.override().Azure; o != nil && o.SubnetName != "" {
		return o.SubnetName
	}
	return a.spec.SubnetName
}

// cluster uses the resource group of the ProviderConfig. The provider does not delete one that
// it has not created.
func (a azure) cluster() (object, error) {
	if a.spec.Location == "" || a.spec.VNetName == "" || a.subnet() == "" {
		return nil, ofProvider("spec.azure.location, spec.azure.vnetName, spec.azure.subnetName", "tenant clusters use an existing network; set all three")
	}
	subnet := object{"name": a.subnet(), "role": "node"}
	if a.spec.SecurityGroupName != "" {
		subnet["securityGroup"] = object{"name": a.spec.SecurityGroupName}
	}
	return object{
		"location":            a.spec.Location,
		"subscriptionID":      a.spec.SubscriptionID,
		"resourceGroup":       a.spec.ResourceGroup,
		"controlPlaneEnabled": false,
		"identityRef":         object{"apiVersion": infrastructureGroup + "/v1beta1", "kind": "AzureClusterIdentity", "name": a.credentialsName(), "namespace": a.Namespace},
		"networkSpec": object{
			"vnet":    object{"resourceGroup": a.spec.ResourceGroup, "name": a.spec.VNetName},
			"subnets": []any{subnet},
		},
		"additionalTags": texts(tag.Azure().Write(a.tags())),
	}, nil
}

// template is that of a machine. Without disableExtensionOperations an extension would look for
// a file that cloud-init writes, and Talos does not. The provider's webhook generates an SSH key
// that nothing uses; an empty one would be generated again in every apply.
func (a azure) template() (object, error) {
	o := v1alpha1.AzureOverride{}
	if a.override().Azure != nil {
		o = *a.override().Azure
	}
	image, err := azureImage(a.image(o.ImageURN, a.spec.ImageURN))
	if err != nil {
		return nil, err
	}
	size, err := a.instanceType(azureSizes, o.VMSize, a.spec.VMSize)
	if err != nil {
		return nil, err
	}
	return object{
		"vmSize":                     size,
		"image":                      image,
		"osDisk":                     object{"osType": "Linux", "diskSizeGB": a.diskGB(), "managedDisk": object{"storageAccountType": "Premium_LRS"}},
		"networkInterfaces":          []any{object{"subnetName": a.subnet(), "privateIPConfigs": int64(1)}},
		"allocatePublicIP":           a.spec.PublicIP,
		"disableExtensionOperations": true,
		"additionalTags":             texts(tag.Azure().Write(a.tags())),
	}, nil
}

// azureImage reads the id of an image, a version in a community gallery, or the four parts of
// an image of the marketplace.
func azureImage(urn string) (object, error) {
	const field = "spec.workers.machineTemplate.os.imageRef"
	if urn == "" {
		return nil, ofTenant(field, "no image is set; set it, or spec.azure.imageURN of the ProviderConfig")
	}
	segments := strings.Split(strings.Trim(urn, "/"), "/")
	if len(segments) == 6 && strings.EqualFold(segments[0], "communityGalleries") {
		return object{"computeGallery": object{"gallery": segments[1], "name": segments[3], "version": segments[5]}}, nil
	}
	if strings.HasPrefix(strings.ToLower(urn), "/subscriptions/") {
		return object{"id": urn}, nil
	}
	parts := strings.Split(urn, ":")
	if len(parts) != 4 {
		return nil, ofTenant(field, "%q is neither the id of an image, nor /CommunityGalleries/GALLERY/Images/NAME/Versions/VERSION, nor publisher:offer:sku:version", urn)
	}
	return object{"marketplace": object{"publisher": parts[0], "offer": parts[1], "sku": parts[2], "version": cmp.Or(parts[3], "latest")}}, nil
}
