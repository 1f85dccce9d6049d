// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/sim/harvester/admission"
	harvesterv1beta1 "github.com/butlerdotdev/butler/internal/sim/harvester/harvesterhci/v1beta1"
)

// Seed is what a Harvester starts with beyond what every simulated one has: objects
// that a user's manifest names. Objects that are there are left as they are.
type Seed struct {
	Namespaces     []string
	Images         []string // namespace/name; each gets a storage class
	Networks       []string // namespace/name
	StorageClasses []string
	Hosts          []string // further names of the API server, with a port or without
	// NoGuestAgent makes the guests run without qemu-guest-agent: instances on a
	// bridge network then report no address.
	NoGuestAgent bool
}

const (
	provisioner  = "driver.longhorn.io"
	defaultClass = "harvester-longhorn"
	legacyImage  = "image-5rs6d"
	seededMark   = "butler-simulator" // a ConfigMap: the first start is over
)

// base is what is there after the first start. The administrator may delete it.
func base() Seed {
	return Seed{
		Images:         []string{"default/" + legacyImage, "default/talos-v1.9.2"},
		Networks:       []string{"default/workloads", "default/vlan40-workloads"},
		StorageClasses: []string{"longhorn", defaultClass},
	}
}

func (h *Harvester) seed(ctx context.Context, c client.Client) error {
	if err := add(ctx, c, namespace(metav1.NamespaceDefault)); err != nil {
		return err
	}
	for _, name := range h.hosts() {
		if err := add(ctx, c, host(name)); err != nil {
			return err
		}
	}
	mark := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: seededMark}}
	err := c.Get(ctx, client.ObjectKeyFromObject(mark), mark)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	if err != nil {
		if err := h.seedFirst(ctx, c); err != nil {
			return err
		}
		if err := add(ctx, c, mark); err != nil {
			return err
		}
	}
	return h.options.Seed.create(ctx, c)
}

func (h *Harvester) seedFirst(ctx context.Context, c client.Client) error {
	// Releases before 1.4 named an image's class after the image, and it stays so.
	legacy := imageClass("longhorn-"+legacyImage, "default-"+legacyImage)
	return errors.Join(
		add(ctx, c, legacy),
		base().create(ctx, c),
		add(ctx, c, binding(DocumentedRole)),
		add(ctx, c, binding(RecommendedRole)),
	)
}

func (s Seed) create(ctx context.Context, c client.Client) error {
	for _, name := range s.Namespaces {
		if err := add(ctx, c, namespace(name)); err != nil {
			return err
		}
	}
	for _, name := range s.StorageClasses {
		if err := add(ctx, c, plainClass(name)); err != nil {
			return err
		}
	}
	for _, name := range s.Networks {
		if err := addWithNamespace(ctx, c, networkAttachment(parseName(name))); err != nil {
			return err
		}
	}
	for _, name := range s.Images {
		if err := seedImage(ctx, c, parseName(name)); err != nil {
			return err
		}
	}
	return nil
}

// seedImage creates an image and imports it at once, so that it can be used as soon
// as Start has returned.
func seedImage(ctx context.Context, c client.Client, name types.NamespacedName) error {
	image := &harvesterv1beta1.VirtualMachineImage{
		ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name},
		Spec:       harvesterv1beta1.ImageSpec{DisplayName: name.Name, SourceType: "upload"},
	}
	if err := addWithNamespace(ctx, c, image); err != nil {
		return err
	}
	if err := c.Get(ctx, name, image); err != nil {
		return err
	}
	return (&images{Client: c}).imported(ctx, image)
}

func addWithNamespace(ctx context.Context, c client.Client, o client.Object) error {
	return errors.Join(add(ctx, c, namespace(o.GetNamespace())), add(ctx, c, o))
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func plainClass(name string) *storagev1.StorageClass {
	class := imageClass(name, "")
	if name == defaultClass {
		class.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
	}
	return class
}

// imageClass is a Longhorn class whose volumes start as copies of a backing image,
// or empty if there is none.
func imageClass(name, backingImage string) *storagev1.StorageClass {
	reclaim, bind, expand := corev1.PersistentVolumeReclaimDelete, storagev1.VolumeBindingImmediate, true
	parameters := map[string]string{"migratable": "true", "numberOfReplicas": "3", "staleReplicaTimeout": "30"}
	if backingImage != "" {
		parameters[backingImageParameter] = backingImage
	}
	return &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, Parameters: parameters,
		ReclaimPolicy: &reclaim, VolumeBindingMode: &bind, AllowVolumeExpansion: &expand,
	}
}

// networkAttachment is a VLAN network as Harvester keeps it; a number after "vlan"
// in its name is its VLAN.
func networkAttachment(name types.NamespacedName) *unstructured.Unstructured {
	vlan := 1
	if found := regexp.MustCompile(`vlan-?([0-9]{1,4})`).FindStringSubmatch(name.Name); found != nil {
		vlan, _ = strconv.Atoi(found[1])
	}
	config, _ := json.Marshal(map[string]any{ // cannot fail: plain values
		"cniVersion": "0.3.1", "name": name.Name, "type": "bridge", "bridge": "mgmt-br",
		"promiscMode": true, "vlan": vlan, "ipam": map[string]any{},
	})
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"config": string(config)}}}
	u.SetGroupVersionKind(admission.NetworkKind())
	u.SetNamespace(name.Namespace)
	u.SetName(name.Name)
	u.SetLabels(map[string]string{
		"network.harvesterhci.io/clusternetwork": "mgmt",
		"network.harvesterhci.io/type":           "L2VlanNetwork",
		"network.harvesterhci.io/vlan-id":        fmt.Sprint(vlan),
		"network.harvesterhci.io/ready":          "true",
	})
	return u
}

// parseName reads namespace/name; a name alone is in the namespace "default".
func parseName(s string) types.NamespacedName {
	ns, name, found := strings.Cut(s, "/")
	if !found {
		return types.NamespacedName{Namespace: metav1.NamespaceDefault, Name: s}
	}
	return types.NamespacedName{Namespace: ns, Name: name}
}
