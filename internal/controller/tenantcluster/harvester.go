// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
)

// mangled reports whether the platform's provider rewrites user data, so that it cannot carry
// a configuration.
func (s *session) mangled() bool {
	h := s.provider.Spec.Harvester
	return h != nil && h.ClusterAPIProvider == v1alpha1.ClusterAPIHarvester
}

// resolve asks the platform for what only it knows: on Harvester the storage class of the image.
func (s *session) resolve(ctx context.Context) *step.Obstacle {
	h := s.provider.Spec.Harvester
	if h == nil {
		return nil
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(s.input.Credentials[cmp.Or(s.provider.Spec.CredentialsRef.Key, v1alpha1.KeyKubeconfig)])
	if err != nil {
		return polled("CredentialsInvalid", "the kubeconfig of Harvester in Secret %s cannot be read", s.provider.CredentialsSecret())
	}
	s.input.Resolved.ServerURL = config.Host
	if h.ClusterAPIProvider == v1alpha1.ClusterAPIHarvester {
		return nil
	}
	image := s.harvesterImage()
	class, err := s.knownClass(ctx, config, image)
	if err != nil {
		return polled("ImageNotFound", "the storage class of image %s on Harvester is not known: %s", image, step.Stable(err))
	}
	s.input.Resolved.ImageStorageClass = class
	return nil
}

// knownClass asks for the storage class of an image once for all clusters.
func (s *session) knownClass(ctx context.Context, config *rest.Config, image string) (string, error) {
	kubeconfig := s.input.Credentials[cmp.Or(s.provider.Spec.CredentialsRef.Key, v1alpha1.KeyKubeconfig)]
	key := imageKey{sha256.Sum256(kubeconfig), image}
	if known := s.images.get(key, s.Clock()); known != "" {
		return known, nil
	}
	class, err := s.imageClass(ctx, config, image)
	if err == nil {
		s.images.put(key, class, s.Clock())
	}
	return class, err
}

// harvesterImage is the image of the workers, found as package tenant finds it.
func (s *session) harvesterImage() string {
	override := ""
	if o := s.Spec.InfrastructureOverride; o != nil && o.Harvester != nil {
		override = o.Harvester.ImageName
	}
	return cmp.Or(override, s.Spec.Workers.MachineTemplate.OS.ImageRef, s.provider.Spec.Harvester.ImageName)
}

func (s *session) imageClass(ctx context.Context, config *rest.Config, image string) (string, error) {
	config.Dial = s.Dial
	config.Timeout = exchange
	transport, err := rest.TransportFor(config)
	if err != nil {
		return "", err
	}
	api, err := dynamic.NewForConfigAndClient(config, &http.Client{Transport: transport, Timeout: exchange})
	if err != nil {
		return "", err
	}
	images := schema.GroupVersionResource{Group: "harvesterhci.io", Version: "v1beta1", Resource: "virtualmachineimages"}
	namespace, name, _ := strings.Cut(image, "/")
	found, err := api.Resource(images).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", fmt.Errorf("it does not exist; upload it, or name another one in spec.harvester.imageName of the ProviderConfig")
	}
	if err != nil {
		return "", err
	}
	if class := text(found, "status", "storageClassName"); class != "" {
		return class, nil
	}
	return "", fmt.Errorf("it has no storage class yet")
}
