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

// rootDisk is the name of the root disk of a machine. The provider puts the name of the machine
// before it.
const rootDisk = "root"

// kubevirt is Harvester through cluster-api-provider-kubevirt.
type kubevirt struct {
	Input
	spec v1alpha1.HarvesterSpec
}

// The infrastructure cluster is external: the provider would take a ClusterIP of Harvester as
// the endpoint.
func (kubevirt) names() names {
	return names{version: "v1alpha1", cluster: "KubevirtCluster", template: "KubevirtMachineTemplate", external: true}
}

func (kubevirt) warnings() []string { return nil }

func (k kubevirt) namespace() string {
	if o := k.override().Harvester; o != nil && o.Namespace != "" {
		return o.Namespace
	}
	return cmp.Or(k.spec.Namespace, "default")
}

func (k kubevirt) credentials() ([]*unstructured.Unstructured, error) {
	kubeconfig, err := harvesterKubeconfig(k.Input)
	if err != nil {
		return nil, err
	}
	return []*unstructured.Unstructured{k.secret(k.credentialsName(), map[string]string{"kubeconfig": kubeconfig, "namespace": k.namespace()})}, nil
}

// harvesterKubeconfig is the one in the key that the ProviderConfig names, or in the usual one.
func harvesterKubeconfig(in Input) (string, error) {
	key := v1alpha1.KeyKubeconfig
	if ref := in.Provider.Spec.CredentialsRef; ref != nil {
		key = cmp.Or(ref.Key, key)
	}
	if len(in.Credentials[key]) == 0 {
		return "", ofSecret(key, "it is empty; put the kubeconfig of Harvester there")
	}
	return string(in.Credentials[key]), nil
}

func (k kubevirt) cluster() (object, error) {
	return object{"infraClusterSecretRef": object{
		"apiVersion": "v1", "kind": "Secret", "name": k.credentialsName(), "namespace": k.Namespace,
	}}, nil
}

func (k kubevirt) template() (object, error) {
	image, network, err := harvesterPlace(k.Input, k.spec)
	if err != nil {
		return nil, err
	}
	if k.Resolved.ImageStorageClass == "" {
		return nil, &FieldError{
			Object: "ProviderConfig", Field: "spec.harvester.imageName", cause: ErrUnresolved,
			Problem: "the storage class of image " + image + " is not known: status.storageClassName of its VirtualMachineImage",
		}
	}
	labels := texts(tag.Style{}.Write(k.tags()))
	return object{
		"virtualMachineTemplate": object{
			"metadata": object{"namespace": k.namespace(), "labels": labels},
			"spec": object{
				"runStrategy":         "Always",
				"dataVolumeTemplates": []any{k.disk(image, labels)},
				"template":            object{"metadata": object{"labels": labels}, "spec": k.instance(network)},
			},
		},
		// Talos has no SSH to look for a file with.
		"virtualMachineBootstrapCheck": object{"checkStrategy": "none"},
	}, nil
}

// harvesterPlace returns the image and the network of the workers.
func harvesterPlace(in Input, s v1alpha1.HarvesterSpec) (image, network string, err error) {
	o := v1alpha1.HarvesterOverride{}
	if in.override().Harvester != nil {
		o = *in.override().Harvester
	}
	image, network = in.image(o.ImageName, s.ImageName), cmp.Or(o.NetworkName, s.NetworkName)
	if image == "" {
		return "", "", ofTenant("spec.workers.machineTemplate.os.imageRef", "no image is set; set it, or spec.harvester.imageName of the ProviderConfig")
	}
	if namespace, name, ok := strings.Cut(image, "/"); !ok || namespace == "" || name == "" || strings.Contains(name, "/") {
		return "", "", ofTenant("spec.workers.machineTemplate.os.imageRef", "image %q is not of the form namespace/name", image)
	}
	return image, network, nil
}

// disk is a volume of the image's storage class. Harvester fills such a volume with the image.
func (k kubevirt) disk(image string, labels object) object {
	return object{
		"metadata": object{"name": rootDisk, "labels": labels, "annotations": object{"harvesterhci.io/imageId": image}},
		"spec": object{
			"source": object{"blank": object{}},
			"pvc": object{
				"accessModes":      []any{"ReadWriteMany"},
				"volumeMode":       "Block",
				"storageClassName": k.Resolved.ImageStorageClass,
				"resources":        object{"requests": object{"storage": k.machine().DiskSize.String()}},
			},
		},
	}
}

func (k kubevirt) instance(network string) object {
	domain := object{
		"cpu":    object{"cores": int64(k.machine().CPU), "sockets": int64(1), "threads": int64(1)},
		"memory": object{"guest": k.machine().Memory.String()},
		"devices": object{
			"disks":      []any{object{"name": rootDisk, "bootOrder": int64(1), "disk": object{"bus": "virtio"}}},
			"interfaces": []any{object{"name": "default", "model": "virtio", "bridge": object{}}},
		},
	}
	if k.spec.Firmware == v1alpha1.FirmwareEFI || k.spec.Firmware == v1alpha1.FirmwareSecureBoot {
		secure := k.spec.Firmware == v1alpha1.FirmwareSecureBoot
		domain["firmware"] = object{"bootloader": object{"efi": object{"secureBoot": secure}}}
		domain["features"] = object{"acpi": object{"enabled": true}, "smm": object{"enabled": secure}}
	}
	return object{
		"domain":           domain,
		"evictionStrategy": "LiveMigrateIfPossible",
		"networks":         []any{object{"name": "default", "multus": object{"networkName": network}}},
		"volumes":          []any{object{"name": rootDisk, "dataVolume": object{"name": rootDisk}}},
	}
}
