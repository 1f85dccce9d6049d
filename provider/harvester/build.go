// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/nocloud"
	"github.com/butlerdotdev/butler/provider/tag"
)

const (
	imageAnnotation = "harvesterhci.io/imageId"
	// inlineMost is how many bytes of cloud-init data KubeVirt takes inline.
	inlineMost = 2048
	// The keys that KubeVirt reads in a Secret with cloud-init data.
	userDataKey    = "userdata"
	networkDataKey = "networkdata"

	rootVolume      = "root"
	cloudInitVolume = "cloudinit"
	networkLabel    = "default"
)

// parts are what must exist before the VirtualMachine: cloud-init data that is too long
// to be inline, and the disks.
func (m *machines) parts(s provider.MachineSpec, d disks) []client.Object {
	var parts []client.Object
	if secret := m.secret(s); secret != nil {
		parts = append(parts, secret)
	}
	parts = append(parts, m.rootClaim(s, d))
	for n := range s.ExtraDisks {
		class := m.diskClass(s, n)
		parts = append(parts, m.claim(s, diskName(s.Name, n), s.ExtraDisks[n].SizeGB, class, d.mode(class)))
	}
	return withSecretNoted(parts)
}

func (m *machines) labels(s provider.MachineSpec) map[string]string {
	return merged(s.Labels, tag.Style{}.Write(s.Owner.Tags(s.Name)))
}

func (m *machines) rootClaim(s provider.MachineSpec, d disks) *corev1.PersistentVolumeClaim {
	c := m.claim(s, rootName(s.Name), s.DiskGB, d.image.class, d.mode(d.image.class))
	c.Annotations = map[string]string{imageAnnotation: d.image.id()}
	return c
}

// claim is a disk. An empty class is Harvester's default one.
func (m *machines) claim(s provider.MachineSpec, name string, sizeGB int32, class string, mode corev1.PersistentVolumeAccessMode) *corev1.PersistentVolumeClaim {
	block := corev1.PersistentVolumeBlock
	c := &corev1.PersistentVolumeClaim{ObjectMeta: m.meta(name), Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{mode},
		VolumeMode:  &block,
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: gigabytes(sizeGB)}},
	}}
	if class != "" {
		c.Spec.StorageClassName = &class
	}
	c.Labels = m.labels(s)
	return c
}

// secret holds the cloud-init data that is too long to be inline.
func (m *machines) secret(s provider.MachineSpec) *corev1.Secret {
	data := map[string][]byte{}
	if len(s.UserData) > inlineMost {
		data[userDataKey] = []byte(s.UserData.Reveal())
	}
	if network := networkData(s); len(network) > inlineMost {
		data[networkDataKey] = []byte(network.Reveal())
	}
	if len(data) == 0 {
		return nil
	}
	secret := &corev1.Secret{ObjectMeta: m.meta(secretName(s.Name)), Data: data}
	secret.Labels = m.labels(s)
	return secret
}

func (m *machines) virtualMachine(s provider.MachineSpec, d disks) *kubevirtv1.VirtualMachine {
	strategy, eviction := runStrategy(s, d), kubevirtv1.EvictionStrategyLiveMigrateIfPossible
	vm := &kubevirtv1.VirtualMachine{ObjectMeta: m.meta(s.Name), Spec: kubevirtv1.VirtualMachineSpec{
		RunStrategy: &strategy,
		Template: &kubevirtv1.VirtualMachineInstanceTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: m.instanceLabels(s)},
			Spec: kubevirtv1.VirtualMachineInstanceSpec{
				Hostname:         s.Name,
				Domain:           domain(s, m.spec.Firmware),
				EvictionStrategy: &eviction,
				Affinity:         apart(s),
				Networks: []kubevirtv1.Network{{
					Name:          networkLabel,
					NetworkSource: kubevirtv1.NetworkSource{Multus: &kubevirtv1.MultusNetwork{NetworkName: m.spec.NetworkName}},
				}},
			},
		},
	}}
	vm.Labels = m.labels(s)
	spec := &vm.Spec.Template.Spec
	attach(spec, rootVolume, claimVolume(rootName(s.Name)))
	spec.Domain.Devices.Disks[0].BootOrder = new(uint(1))
	for i := range s.ExtraDisks {
		attach(spec, fmt.Sprintf("disk-%d", i+1), claimVolume(diskName(s.Name, i)))
	}
	for i := range spec.Domain.Devices.Disks { // the guest finds them at /dev/disk/by-id/virtio-NAME
		spec.Domain.Devices.Disks[i].Serial = spec.Domain.Devices.Disks[i].Name
	}
	if nocloud.Needed(s) {
		attach(spec, cloudInitVolume, kubevirtv1.VolumeSource{CloudInitNoCloud: cloudInit(s)})
	}
	return vm
}

func domain(s provider.MachineSpec, f v1alpha1.HarvesterFirmware) kubevirtv1.DomainSpec {
	memory := *resource.NewQuantity(int64(s.MemoryMB)<<20, resource.BinarySI)
	return kubevirtv1.DomainSpec{
		Firmware: firmware(f),
		Features: features(f),
		CPU:      &kubevirtv1.CPU{Cores: uint32(s.CPU), Sockets: 1, Threads: 1},
		Memory:   &kubevirtv1.Memory{Guest: &memory},
		Resources: kubevirtv1.ResourceRequirements{Limits: corev1.ResourceList{
			corev1.ResourceCPU: *resource.NewQuantity(int64(s.CPU), resource.DecimalSI), corev1.ResourceMemory: memory,
		}},
		Devices: kubevirtv1.Devices{Interfaces: []kubevirtv1.Interface{{
			Name: networkLabel, Model: "virtio", MacAddress: macAddress(s),
			InterfaceBindingMethod: kubevirtv1.InterfaceBindingMethod{Bridge: &kubevirtv1.InterfaceBridge{}},
		}}},
	}
}

func attach(spec *kubevirtv1.VirtualMachineInstanceSpec, name string, source kubevirtv1.VolumeSource) {
	spec.Domain.Devices.Disks = append(spec.Domain.Devices.Disks, kubevirtv1.Disk{
		Name:       name,
		DiskDevice: kubevirtv1.DiskDevice{Disk: &kubevirtv1.DiskTarget{Bus: kubevirtv1.DiskBusVirtio}},
	})
	spec.Volumes = append(spec.Volumes, kubevirtv1.Volume{Name: name, VolumeSource: source})
}

func claimVolume(name string) kubevirtv1.VolumeSource {
	return kubevirtv1.VolumeSource{PersistentVolumeClaim: &kubevirtv1.PersistentVolumeClaimVolumeSource{
		PersistentVolumeClaimVolumeSource: corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
	}}
}

func cloudInit(s provider.MachineSpec) *kubevirtv1.CloudInitNoCloudSource {
	c, ref := &kubevirtv1.CloudInitNoCloudSource{}, &corev1.LocalObjectReference{Name: secretName(s.Name)}
	if len(s.UserData) > inlineMost {
		c.UserDataSecretRef = ref
	} else {
		c.UserData = nocloud.UserData(s.UserData).Reveal()
	}
	if network := networkData(s); len(network) > inlineMost {
		c.NetworkDataSecretRef = ref
	} else {
		c.NetworkData = network.Reveal()
	}
	return c
}

func gigabytes(n int32) resource.Quantity {
	return *resource.NewQuantity(int64(n)<<30, resource.BinarySI)
}
