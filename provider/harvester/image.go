// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/provider"
)

const (
	reasonNoClass = "StorageClassNotFound"
	// backendCDI is spec.backend of an image that is not a Longhorn backing image.
	backendCDI = "cdi"
)

// namedClass is the class of an image that Harvester before 1.8 created.
func namedClass(image string) string { return "longhorn-" + image }

// image is where a root disk comes from.
type image struct {
	namespace, name string
	class           string // the storage class for disks from it
}

func (i image) id() string { return i.namespace + "/" + i.name }

// resolve finds the image and checks what else the machine refers to. What the
// credentials may not read is taken to be right.
func (m *machines) resolve(ctx context.Context, op string, s provider.MachineSpec) (disks, error) {
	i, err := m.image(op, s)
	if err != nil {
		return disks{}, err
	}
	if i.class, err = m.imageClass(ctx, op, i); err != nil && !forbidden(err) {
		return disks{}, err
	}
	if s.Network != nil {
		if err := m.checkAddressable(ctx, op, i); err != nil && !forbidden(err) {
			return disks{}, err
		}
	}
	if err := m.checkNetwork(ctx, op); err != nil && !forbidden(err) {
		return disks{}, err
	}
	modes, err := m.accessModes(ctx, op, s, i)
	return disks{image: i, modes: modes}, err
}

// wanted names the image of a machine.
func (m *machines) wanted(s provider.MachineSpec) string { return cmp.Or(s.Image, m.spec.ImageName) }

func (m *machines) image(op string, s provider.MachineSpec) (image, error) {
	text := m.wanted(s)
	if text == "" {
		return image{}, provider.Invalid.New(op, provider.ReasonImageMissing, errors.New("no image is set"), "set spec.harvester.imageName of the ProviderConfig, or spec.image")
	}
	ns, name, ok := strings.Cut(text, "/")
	if !ok || ns == "" || name == "" || strings.Contains(name, "/") {
		return image{}, provider.Invalid.New(op, provider.ReasonImageInvalid, fmt.Errorf("image %q is not of the form namespace/name", text), "correct it")
	}
	return image{namespace: ns, name: name}, nil
}

// choose returns the image of a machine.
func (m *machines) choose(_ context.Context, s provider.MachineSpec) (provider.Choice, error) {
	i, err := m.image(fmt.Sprintf("plan machine %q", s.Name), s)
	if err != nil {
		return provider.Choice{}, err
	}
	return provider.Choice{Image: i.id()}, nil
}

// imageClass returns the storage class for disks from the image. Where the
// image may not be read, it is the class that is named after it, with the error.
func (m *machines) imageClass(ctx context.Context, op string, i image) (string, error) {
	class, err := m.recent.images.Get(ctx, i.id(), func(ctx context.Context) (string, error) { return m.readImageClass(ctx, op, i) })
	if forbidden(err) {
		class = namedClass(i.name)
	}
	return class, err
}

func (m *machines) readImageClass(ctx context.Context, op string, i image) (string, error) {
	u, err := m.read(ctx, imageKind(), i.namespace, i.name)
	switch {
	case apierrors.IsNotFound(err):
		return "", provider.Invalid.New(op, provider.ReasonImageNotFound, fmt.Errorf("image %q not found", i.id()), "upload it, or correct spec.image of the request or spec.harvester.imageName of the ProviderConfig")
	case err != nil:
		return "", apiError(op, err)
	}
	if err := supported(op, i, u); err != nil {
		return "", err
	}
	if err := imported(op, i, u); err != nil {
		return "", err
	}
	if class, _, _ := unstructured.NestedString(u.Object, "status", "storageClassName"); class != "" {
		return class, nil
	}
	return namedClass(i.name), nil
}

// supported refuses an image that CDI keeps: a disk from it needs a DataVolume. A
// claim of its storage class would be provisioned, and be empty.
func supported(op string, i image, u *unstructured.Unstructured) error {
	if backend, _, _ := unstructured.NestedString(u.Object, "spec", "backend"); backend == backendCDI {
		return provider.Invalid.New(op, "ImageBackendUnsupported", fmt.Errorf("image %q has the backend %q, from which this driver cannot create disks", i.id(), backend),
			"upload it with a Longhorn storage class of the V1 data engine, which gives it the backend backingimage")
	}
	return nil
}

// imported refuses an image that Harvester has not finished to import.
func imported(op string, i image, u *unstructured.Unstructured) error {
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range conditions {
		c, _ := c.(map[string]any)
		if c["type"] != "Imported" || c["status"] == "True" {
			continue
		}
		err := fmt.Errorf("image %q is not imported yet", i.id())
		if text, _ := c["message"].(string); c["status"] == "False" && text != "" {
			return provider.Invalid.New(op, provider.ReasonImageBroken, fmt.Errorf("image %q is not imported: %s", i.id(), text), "upload it again")
		}
		return provider.Unavailable.New(op, provider.ReasonImageNotReady, err, "creation continues when the upload is complete")
	}
	return nil
}

func (m *machines) checkNetwork(ctx context.Context, op string) error {
	return m.recent.check(ctx, "network", func(ctx context.Context) error { return m.readNetwork(ctx, op) })
}

func (m *machines) readNetwork(ctx context.Context, op string) error {
	ns, name, _ := strings.Cut(m.spec.NetworkName, "/")
	_, err := m.read(ctx, networkKind(), ns, name)
	switch {
	case err == nil:
		return nil
	case apierrors.IsNotFound(err):
		return provider.Invalid.New(op, provider.ReasonNetworkNotFound, fmt.Errorf("network %q not found", m.spec.NetworkName), "create it or set spec.harvester.networkName")
	}
	return apiError(op, err)
}

func (m *machines) checkClass(ctx context.Context, op, class string) error {
	_, err := m.storageClass(ctx, op, class)
	return err
}

func (m *machines) storageClass(ctx context.Context, op, class string) (*storagev1.StorageClass, error) {
	return m.recent.classes.Get(ctx, class, func(ctx context.Context) (*storagev1.StorageClass, error) { return m.readClass(ctx, op, class) })
}

func (m *machines) readClass(ctx context.Context, op, class string) (*storagev1.StorageClass, error) {
	c := &storagev1.StorageClass{}
	err := m.api.Get(ctx, client.ObjectKey{Name: class}, c)
	switch {
	case err == nil:
		return c, nil
	case apierrors.IsNotFound(err):
		return nil, provider.Invalid.New(op, reasonNoClass, fmt.Errorf("storage class %q not found", class),
			"create it or name another one in extraDisks or spec.harvester.storageClassName")
	}
	return nil, apiError(op, err)
}

func (m *machines) read(ctx context.Context, kind schema.GroupVersionKind, ns, name string) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	return u, m.api.Get(ctx, client.ObjectKey{Namespace: ns, Name: name}, u)
}
