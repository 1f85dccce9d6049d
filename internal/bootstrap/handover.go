// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/step"
)

// HandsOver reports whether a cluster is handed its ProviderConfig with the
// credentials: where this project's controllers are installed, on a single node
// too.
func HandsOver(spec v1alpha1.ClusterBootstrapSpec) bool {
	enabled := spec.Addons.ButlerController.Enabled
	return enabled == nil || *enabled
}

// handOver writes to the new cluster what its controllers work with: the
// ProviderConfig, its credentials, and the ButlerConfig. A cluster that manages
// itself has its own, which are not written again.
func handOver(ctx context.Context, s *Session) (*Obstacle, error) {
	if !s.Status.AddonsInstalled[addon.ButlerCRDs] || s.selfHosted() {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
	defer cancel()
	if err := s.handOver(ctx); err != nil {
		return &Obstacle{Reason: "HandingOver", Message: "the new cluster does not accept its configuration yet: " + step.Stable(err), Poll: true}, nil
	}
	return nil, nil
}

func (s *Session) handOver(ctx context.Context) error {
	if err := s.handOverCredentials(ctx); err != nil {
		return err
	}
	if err := s.kubernetes.cluster.ensureNamespace(ctx, s.provider.Namespace); err != nil {
		return err
	}
	p := providerConfigFor(s.provider)
	if err := s.kubernetes.cluster.applyOwn(ctx, "providerconfigs", p.Namespace, p.Name, p); err != nil {
		return err
	}
	b := butlerConfig(s.Spec, s.provider)
	return s.kubernetes.cluster.applyOwn(ctx, "butlerconfigs", "", b.Name, b)
}

// handOverCredentials copies the Secret of the ProviderConfig. Without one the
// credentials are ambient, and belong to the machine that has them.
func (s *Session) handOverCredentials(ctx context.Context) error {
	key := s.credentialsKey(nil)
	if key.Name == "" {
		return nil
	}
	secret := &corev1.Secret{}
	if err := s.Live.Get(ctx, key, secret); err != nil {
		return fmt.Errorf("read secret %s: %w", key, err)
	}
	if err := s.kubernetes.cluster.ensureNamespace(ctx, key.Namespace); err != nil {
		return err
	}
	return s.kubernetes.cluster.applySecret(ctx, secretFor(secret))
}

func applied() metav1.PatchOptions {
	return metav1.PatchOptions{FieldManager: fieldOwner, Force: new(true)}
}

// metaFor is what an object keeps of its metadata on another API server.
func metaFor(m metav1.ObjectMeta) metav1.ObjectMeta {
	annotations := maps.Clone(m.Annotations)
	delete(annotations, corev1.LastAppliedConfigAnnotation)
	return metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name, Labels: maps.Clone(m.Labels), Annotations: annotations}
}

func secretFor(s *corev1.Secret) *corev1.Secret {
	return &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metaFor(s.ObjectMeta), Type: s.Type, Data: s.Data, Immutable: s.Immutable,
	}
}

func providerConfigFor(p *v1alpha1.ProviderConfig) *v1alpha1.ProviderConfig {
	return &v1alpha1.ProviderConfig{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion().String(), Kind: "ProviderConfig"},
		ObjectMeta: metaFor(p.ObjectMeta), Spec: p.Spec,
	}
}

// butlerConfig is the platform's configuration as the spec of its cluster has it.
// A ProviderConfig of another namespace than the platform's cannot be its default.
func butlerConfig(spec v1alpha1.ClusterBootstrapSpec, p *v1alpha1.ProviderConfig) *v1alpha1.ButlerConfig {
	exposure := spec.ControlPlaneExposure.DeepCopy()
	if exposure == nil {
		exposure = &v1alpha1.ControlPlaneExposureSpec{Mode: v1alpha1.ExposureLoadBalancer}
	}
	var provider *v1alpha1.LocalReference
	if p.Namespace == addon.PlatformNamespace {
		provider = &v1alpha1.LocalReference{Name: p.Name}
	}
	return &v1alpha1.ButlerConfig{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion().String(), Kind: "ButlerConfig"},
		ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.ButlerConfigName},
		Spec:       v1alpha1.ButlerConfigSpec{ControlPlaneExposure: exposure, DefaultProviderConfigRef: provider},
	}
}

func (c *newCluster) ensureNamespace(ctx context.Context, name string) error {
	_, err := c.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return err
	}
	_, err = c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{FieldManager: fieldOwner})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// applyOwn applies an object of this project, without its status.
func (c *newCluster) applyOwn(ctx context.Context, resource, namespace, name string, o any) error {
	data, err := withoutStatus(o)
	if err != nil {
		return err
	}
	return c.CoreV1().RESTClient().Patch(types.ApplyPatchType).
		AbsPath("/apis/"+v1alpha1.GroupVersion().String()).NamespaceIfScoped(namespace, namespace != "").
		Resource(resource).Name(name).VersionedParams(new(applied()), scheme.ParameterCodec).
		Body(data).Do(ctx).Error()
}

func withoutStatus(o any) ([]byte, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	delete(fields, "status")
	return json.Marshal(fields)
}
