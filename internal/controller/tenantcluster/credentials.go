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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/tenant"
)

// prepareInput gathers what the objects are made of.
func (s *session) prepareInput(ctx context.Context) (*step.Obstacle, error) {
	credentials, o, err := s.credentials(ctx)
	if o != nil || err != nil {
		return o, err
	}
	s.input = tenant.Input{
		Cluster: s.TenantCluster, Provider: s.provider, Credentials: credentials, Config: s.config,
		Host: s.kinds.host, Core: s.kinds.cluster.Version, Namespace: tenantNamespace(s.TenantCluster),
		ClusterID: s.Annotations[v1alpha1.AnnotationClusterID], TrustdTag: s.TrustdTag, Addresses: s.nodeAddresses(),
	}
	found, err := s.read(ctx, s.kinds.controlPlane, s.key(s.Name))
	if err != nil {
		return nil, err
	}
	if found != nil {
		s.input.Exposed = tenant.Exposed(s.TenantCluster, found)
	}
	if o := s.resolve(ctx); o != nil {
		return o, nil
	}
	return s.build()
}

// credentials reads the Secret of the ProviderConfig; nil if it has none.
func (s *session) credentials(ctx context.Context) (map[string][]byte, *step.Obstacle, error) {
	key := s.provider.CredentialsSecret()
	if key.Name == "" {
		return nil, nil, nil
	}
	data, err := s.login(ctx, key)
	switch {
	case apierrors.IsNotFound(err):
		return nil, polled("CredentialsMissing", "Secret %s with the credentials of ProviderConfig %s does not exist; create it", key, s.provider.Name), nil
	case apierrors.IsForbidden(err):
		return nil, polled("CredentialsUnreadable", "Secret %s with the credentials of ProviderConfig %s may not be read; add %s to credentialsSecrets of chart butler-controller", key, s.provider.Name, key), nil
	case err != nil:
		return nil, nil, err
	}
	return data, nil, nil
}

// copyCredentials writes what the infrastructure provider logs in with. It follows the Secret
// of the ProviderConfig.
func copyCredentials(ctx context.Context, s *session) (*step.Obstacle, error) {
	for _, o := range s.built.Credentials {
		if err := s.enter(ctx, o.GetNamespace()); err != nil {
			return nil, err
		}
		if err := s.applySecret(ctx, o); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// applySecret applies an object that is not watched, unless it is as it was applied.
func (s *session) applySecret(ctx context.Context, o *unstructured.Unstructured) error {
	if o.GetKind() != "Secret" {
		return s.applyObject(ctx, o)
	}
	if err := s.applyKept(ctx, keptKey{o.GetKind(), o.GetNamespace(), o.GetName()}, o.Object, applyConfiguration(o)); err != nil {
		return fmt.Errorf("apply Secret %s/%s: %w", o.GetNamespace(), o.GetName(), err)
	}
	return nil
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
