// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// nutanix is Nutanix through cluster-api-provider-nutanix.
type nutanix struct {
	Input
	spec v1alpha1.NutanixSpec
}

func (nutanix) names() names {
	return names{version: "v1beta1", cluster: "NutanixCluster", template: "NutanixMachineTemplate"}
}

func (n nutanix) warnings() []string {
	if n.spec.StorageContainerUUID == "" && n.spec.StorageContainerName == "" {
		return nil
	}
	return []string{"the storage container of ProviderConfig " + n.Provider.Name + " does not apply to workers: their root disks are in the container of the image"}
}

// login is a user of Prism Central, in the form that the provider reads.
type login struct {
	Type string    `json:"type"`
	Data loginData `json:"data"`
}

type loginData struct {
	PrismCentral prismLogin `json:"prismCentral"`
}

type prismLogin struct {
	Username string `json:"username"`
	Password string `json:"password"` //nolint:gosec // its value is
}

func (n nutanix) credentials() ([]*unstructured.Unstructured, error) {
	user, password := n.Credentials[v1alpha1.KeyUsername], n.Credentials[v1alpha1.KeyPassword]
	if len(user) == 0 || len(password) == 0 {
		return nil, ofSecret(v1alpha1.KeyUsername+", "+v1alpha1.KeyPassword, "cluster-api-provider-nutanix logs in with user and password only; put both there")
	}
	data, err := json.Marshal([]login{{"basic_auth", loginData{prismLogin{string(user), string(password)}}}})
	if err != nil {
		return nil, err
	}
	return []*unstructured.Unstructured{n.secret(n.credentialsName(), map[string]string{"credentials": string(data)})}, nil
}

func (n nutanix) cluster() (object, error) {
	u, err := url.Parse(n.spec.Endpoint)
	if err != nil || u.Hostname() == "" {
		return nil, ofProvider("spec.nutanix.endpoint", "%q is not a URL", n.spec.Endpoint)
	}
	port := int64(cmp.Or(n.spec.Port, 9440))
	if own, err := strconv.ParseInt(u.Port(), 10, 32); err == nil {
		port = own
	}
	prism := object{
		"address": u.Hostname(), "port": port, "insecure": n.spec.Insecure,
		"credentialRef": object{"kind": "Secret", "name": n.credentialsName(), "namespace": n.Namespace},
	}
	if bundle := n.Credentials[v1alpha1.KeyCABundle]; len(bundle) > 0 {
		prism["additionalTrustBundle"] = object{"kind": "String", "data": string(bundle)}
	}
	return object{"prismCentral": prism}, nil
}

func (n nutanix) template() (object, error) {
	o := v1alpha1.NutanixOverride{}
	if n.override().Nutanix != nil {
		o = *n.override().Nutanix
	}
	image := n.named(cmp.Or(o.ImageUUID, n.machine().OS.ImageRef, n.spec.ImageUUID), n.spec.ImageName)
	if image == nil {
		return nil, ofTenant("spec.workers.machineTemplate.os.imageRef", "no image is set; set it to the UUID of an image, or spec.nutanix.imageUUID of the ProviderConfig")
	}
	cores := int64(cmp.Or(n.spec.CoresPerSocket, 1))
	if int64(n.machine().CPU)%cores != 0 {
		return nil, ofTenant("spec.workers.machineTemplate.cpu", "%d is not a multiple of spec.nutanix.coresPerSocket %d of the ProviderConfig", n.machine().CPU, cores)
	}
	out := object{
		"vcpusPerSocket": cores,
		"vcpuSockets":    int64(n.machine().CPU) / cores,
		"memorySize":     n.machine().Memory.String(),
		"systemDiskSize": n.machine().DiskSize.String(),
		"bootType":       "legacy",
		"image":          image,
		"cluster":        n.named(cmp.Or(o.ClusterUUID, n.spec.ClusterUUID), ""),
		"subnet":         []any{n.named(cmp.Or(o.SubnetUUID, n.spec.SubnetUUID), n.spec.SubnetName)},
	}
	if n.spec.Project != "" {
		out["project"] = n.project()
	}
	return out, nil
}

// named identifies an object by its UUID, or by its name.
func (n nutanix) named(uuid, name string) object {
	switch {
	case uuid != "":
		return object{"type": "uuid", "uuid": uuid}
	case name != "":
		return object{"type": "name", "name": name}
	}
	return nil
}

// project is a UUID or a name.
func (n nutanix) project() object {
	const dashes = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
	p := n.spec.Project
	if len(p) == len(dashes) && p[8] == '-' && p[13] == '-' && p[18] == '-' && p[23] == '-' {
		return n.named(p, "")
	}
	return n.named("", p)
}
