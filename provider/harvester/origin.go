// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"maps"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/tag"
)

// original reports whether an object has the name that the driver gives to such an
// object of the machine in its labels. Harvester's clone and restore copy all labels
// to objects of other names: those are copies, which the driver did not create.
func original(o client.Object) bool {
	machine, name := o.GetLabels()[tag.Machine], o.GetName()
	switch o.(type) {
	case *kubevirtv1.VirtualMachine, *kubevirtv1.VirtualMachineInstance:
		return name == machine
	case *corev1.Secret:
		return name == secretName(machine)
	}
	return name == rootName(machine) || name == adoptedDiskName(machine) || isExtraDisk(machine, name)
}

// isExtraDisk reports whether diskName gives the name to a disk of the machine.
func isExtraDisk(machine, name string) bool {
	number, found := strings.CutPrefix(name, machine+"-disk-")
	n, err := strconv.Atoi(number)
	return found && err == nil && n > 0 && name == diskName(machine, n-1)
}

// annotationSecret names on each disk the Secret of its machine, if that has one: the
// permissions that the driver asks for do not include to list Secrets.
const annotationSecret = v1alpha1.Group + "/cloud-init-secret"

// withSecretNoted notes the Secret among the parts of a machine, the first, on the
// others.
func withSecretNoted(parts []client.Object) []client.Object {
	secret, ok := parts[0].(*corev1.Secret)
	if !ok {
		return parts
	}
	for _, p := range parts[1:] {
		annotations := maps.Clone(p.GetAnnotations())
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[annotationSecret] = secret.Name
		p.SetAnnotations(annotations)
	}
	return parts
}

// notesSecret reports whether a disk refers to a Secret of its machine.
func notesSecret(disk client.Object) bool { return disk.GetAnnotations()[annotationSecret] != "" }

// partOf is how an object is shown to people.
func partOf(o client.Object) provider.Part {
	switch o.(type) {
	case *kubevirtv1.VirtualMachine:
		return provider.Part{Kind: provider.PartMachine, Name: o.GetName()}
	case *corev1.Secret:
		return provider.Part{Kind: provider.PartSecret, Name: o.GetName()}
	}
	return provider.Part{Kind: provider.PartDisk, Name: o.GetName()}
}
