// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// cloudInitOf is a volume's cloud-init source; the two kinds have the same fields.
func cloudInitOf(v kubevirtv1.Volume) *kubevirtv1.CloudInitNoCloudSource {
	if v.CloudInitNoCloud != nil {
		return v.CloudInitNoCloud
	}
	if v.CloudInitConfigDrive != nil {
		source := kubevirtv1.CloudInitNoCloudSource(*v.CloudInitConfigDrive)
		return &source
	}
	return nil
}

// lookAtCloudInit takes the user data and network data of the first such volume.
func (r *machines) lookAtCloudInit(ctx context.Context, namespace string, spec *kubevirtv1.VirtualMachineInstanceSpec, g *guest) (*obstacle, error) {
	for _, v := range spec.Volumes {
		init := cloudInitOf(v)
		if init == nil || !reads(g.spec.Image, v) {
			continue
		}
		var wait *obstacle
		var err error
		g.spec.UserData, wait, err = r.initData(ctx, namespace, init.UserDataSecretRef, init.UserDataBase64, init.UserData, "userdata", "userData")
		if wait != nil || err != nil {
			return wait, err
		}
		g.spec.NetworkData, wait, err = r.initData(ctx, namespace, init.NetworkDataSecretRef, init.NetworkDataBase64, init.NetworkData, "networkdata", "networkData")
		if v.CloudInitNoCloud == nil {
			g.spec.NetworkData = nil // Talos looks for it on a NoCloud disk
			g.spec.ImagePlatform = "openstack"
		}
		return wait, err
	}
	return nil, nil
}

func (r *machines) initData(ctx context.Context, namespace string, ref *corev1.LocalObjectReference, encoded, plain string, keys ...string) ([]byte, *obstacle, error) {
	switch {
	case ref != nil && ref.Name != "":
		return r.secretData(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, keys)
	case encoded != "":
		data, err := base64.StdEncoding.DecodeString(encoded)
		return data, nil, err
	case plain != "":
		return []byte(plain), nil, nil
	}
	return nil, nil, nil
}

func (r *machines) secretData(ctx context.Context, name client.ObjectKey, keys []string) ([]byte, *obstacle, error) {
	secret := &corev1.Secret{}
	err := r.Get(ctx, name, secret)
	if apierrors.IsNotFound(err) {
		return nil, notReady(fmt.Sprintf("secret %q not found", name.Name)), nil
	}
	if err != nil {
		return nil, nil, err
	}
	for _, key := range keys {
		if data, found := secret.Data[key]; found {
			return data, nil, nil
		}
	}
	return nil, notReady(fmt.Sprintf("secret %q has none of the keys %v", name.Name, keys)), nil
}

// notReady is how a pod that cannot mount a volume shows in its instance.
func notReady(message string) *obstacle {
	return &obstacle{
		phase: kubevirtv1.Scheduling, kind: kubevirtv1.VirtualMachineInstanceReady,
		reason: "ContainersNotReady", message: message,
	}
}

// reads says whether Talos of an image looks at a disk with cloud-init data: an image for
// OpenStack at a config drive, any other at a NoCloud disk.
func reads(image string, v kubevirtv1.Volume) bool {
	return strings.Contains(image, "openstack") == (v.CloudInitConfigDrive != nil)
}
