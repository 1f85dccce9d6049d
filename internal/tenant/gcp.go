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

// gcp is Google Cloud through cluster-api-provider-gcp.
type gcp struct {
	Input
	spec v1alpha1.GCPSpec
}

// The infrastructure cluster is external: the provider has no way without a load balancer of
// its own for the API server.
func (gcp) names() names {
	return names{version: "v1beta1", cluster: "GCPCluster", template: "GCPMachineTemplate", external: true}
}

func (gcp) warnings() []string { return nil }

func (g gcp) credentials() ([]*unstructured.Unstructured, error) {
	if g.Provider.Spec.CredentialsRef == nil {
		return nil, nil
	}
	key := cmp.Or(g.Provider.Spec.CredentialsRef.Key, v1alpha1.KeyServiceAccountKey)
	if len(g.Credentials[key]) == 0 {
		return nil, ofSecret(key, "cluster-api-provider-gcp needs the key of a service account; put its JSON there")
	}
	return []*unstructured.Unstructured{g.secret(g.credentialsName(), map[string]string{"credentials": string(g.Credentials[key])})}, nil
}

func (g gcp) zone() string {
	if o := g.override().GCP; o != nil && o.Zone != "" {
		return o.Zone
	}
	return g.spec.Zone
}

func (g gcp) cluster() (object, error) {
	if g.zone() == "" {
		return nil, ofTenant("spec.infrastructureOverride.gcp.zone", "the workers of a tenant cluster are in one zone; set it, or spec.gcp.zone of the ProviderConfig")
	}
	out := object{
		"project":          g.spec.ProjectID,
		"region":           g.spec.Region,
		"network":          object{"name": cmp.Or(g.spec.Network, "default")},
		"failureDomains":   []any{g.zone()},
		"additionalLabels": texts(tag.GCP().Write(g.tags())),
	}
	if g.Provider.Spec.CredentialsRef != nil {
		out["credentialsRef"] = object{"name": g.credentialsName(), "namespace": g.Namespace}
	}
	return out, nil
}

func (g gcp) template() (object, error) {
	o := v1alpha1.GCPOverride{}
	if g.override().GCP != nil {
		o = *g.override().GCP
	}
	size, err := g.instanceType(gcpSizes, o.MachineType, g.spec.MachineType)
	if err != nil {
		return nil, err
	}
	out := object{
		"instanceType":     size,
		"rootDeviceSize":   g.diskGB(),
		"rootDeviceType":   "pd-balanced",
		"publicIP":         g.spec.PublicIP,
		"additionalLabels": texts(tag.GCP().Write(g.tags())),
	}
	withText(out, "subnet", cmp.Or(o.Subnetwork, g.spec.Subnetwork))
	if len(g.spec.Tags) > 0 {
		out["additionalNetworkTags"] = list(g.spec.Tags)
	}
	if g.spec.ServiceAccount != "" {
		out["serviceAccounts"] = object{"email": g.spec.ServiceAccount, "scopes": []any{"https://www.googleapis.com/auth/cloud-platform"}}
	}
	return out, g.setImage(out, o)
}

// setImage writes the image, or the family of images, by its full path.
func (g gcp) setImage(out object, o v1alpha1.GCPOverride) error {
	path := func(name, below string) string {
		if strings.Contains(name, "/") {
			return name
		}
		return "projects/" + cmp.Or(g.spec.ImageProject, g.spec.ProjectID) + "/global/images/" + below + name
	}
	image, family := cmp.Or(o.Image, g.machine().OS.ImageRef), o.ImageFamily
	if image == "" && family == "" {
		image, family = g.spec.Image, g.spec.ImageFamily
	}
	switch {
	case image != "":
		out["image"] = path(image, "")
	case family != "":
		out["imageFamily"] = path(family, "family/")
	default:
		return ofTenant("spec.workers.machineTemplate.os.imageRef", "no image is set; set it, or spec.gcp.image of the ProviderConfig")
	}
	return nil
}
