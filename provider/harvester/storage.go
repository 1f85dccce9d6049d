// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

const (
	provisionerLonghorn = "driver.longhorn.io"
	provisionerLVM      = "lvm.driver.harvesterhci.io"
	// modesAnnotation is where Harvester keeps the access modes of a storage class, by
	// volume mode, for example {"Block":["ReadWriteOnce"]}.
	modesAnnotation = "cdi.harvesterhci.io/storageProfileVolumeModeAccessModes"
	// defaultAnnotation marks the class of claims that name none.
	defaultAnnotation = "storageclass.kubernetes.io/is-default-class"
)

// disks is how the disks of a machine are provisioned: the image of the root disk,
// and the access mode of each storage class.
type disks struct {
	image image
	modes map[string]corev1.PersistentVolumeAccessMode
}

// mode is the access mode of a class. Live migration needs disks that two hosts can
// open, so one that is not known to be unable is asked for that.
func (d disks) mode(class string) corev1.PersistentVolumeAccessMode {
	if mode, known := d.modes[class]; known {
		return mode
	}
	return corev1.ReadWriteMany
}

// migratable reports whether the machine's disks allow live migration.
func (d disks) migratable() bool {
	for _, mode := range d.modes {
		if mode != corev1.ReadWriteMany {
			return false
		}
	}
	return true
}

func (m *machines) diskClass(s provider.MachineSpec, i int) string {
	if c := s.ExtraDisks[i].StorageClass; c != "" {
		return c
	}
	return m.spec.StorageClassName
}

// diskClasses are the classes that the extra disks name, each once.
func (m *machines) diskClasses(s provider.MachineSpec) []string {
	names := map[string]bool{}
	for i := range s.ExtraDisks {
		names[m.diskClass(s, i)] = true
	}
	delete(names, "")
	return sorted(names)
}

// accessModes reads the classes of all disks and returns their access modes. A class
// that may not be read is left out.
func (m *machines) accessModes(ctx context.Context, op string, s provider.MachineSpec, i image) (map[string]corev1.PersistentVolumeAccessMode, error) {
	modes := map[string]corev1.PersistentVolumeAccessMode{}
	for _, name := range m.diskClasses(s) {
		class, err := m.storageClass(ctx, op, name)
		if err != nil && !forbidden(err) {
			return nil, err
		}
		if err == nil {
			modes[name] = accessMode(class)
		}
	}
	// A class that the image names and that is missing shows as a disk that waits.
	class, err := m.storageClass(ctx, op, i.class)
	switch {
	case err == nil:
		modes[i.class] = accessMode(class)
	case !forbidden(err) && provider.ReasonOf(err) != reasonNoClass:
		return nil, err
	}
	return modes, m.addDefaultMode(ctx, op, s, modes)
}

// addDefaultMode adds the access mode of the default class if a disk uses it.
func (m *machines) addDefaultMode(ctx context.Context, op string, s provider.MachineSpec, modes map[string]corev1.PersistentVolumeAccessMode) error {
	if !slices.ContainsFunc(s.ExtraDisks, func(d v1alpha1.DiskSpec) bool { return d.StorageClass == "" }) || m.spec.StorageClassName != "" {
		return nil
	}
	all := &storagev1.StorageClassList{}
	if err := m.api.List(ctx, all); err != nil {
		if forbidden(err) {
			return nil
		}
		return apiError(op, err)
	}
	for i := range all.Items {
		if all.Items[i].Annotations[defaultAnnotation] == "true" {
			modes[""] = accessMode(&all.Items[i])
		}
	}
	return nil
}

// accessMode is the mode that a class can provision for a block device: the one that
// Harvester has on record, else what is known of the provisioner.
func accessMode(c *storagev1.StorageClass) corev1.PersistentVolumeAccessMode {
	var recorded map[corev1.PersistentVolumeMode][]corev1.PersistentVolumeAccessMode
	if json.Unmarshal([]byte(c.Annotations[modesAnnotation]), &recorded) == nil && len(recorded[corev1.PersistentVolumeBlock]) > 0 {
		if slices.Contains(recorded[corev1.PersistentVolumeBlock], corev1.ReadWriteMany) {
			return corev1.ReadWriteMany
		}
		return recorded[corev1.PersistentVolumeBlock][0]
	}
	if c.Provisioner == provisionerLVM || c.Provisioner == provisionerLonghorn && c.Parameters["migratable"] == "false" {
		return corev1.ReadWriteOnce
	}
	return corev1.ReadWriteMany
}
