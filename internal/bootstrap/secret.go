// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/talos"
)

// The Secrets of a cluster are named <cluster>-<suffix> and hold one key each.
const (
	SecretTalosSecrets = "talos-secrets"
	SecretTalosconfig  = "talosconfig"
	SecretKubeconfig   = "kubeconfig"
)

// SecretName is the name of a cluster's Secret.
func SecretName(cluster, suffix string) string { return cluster + "-" + suffix }

// checkSecrets sees, before there are machines, that the cluster's keys are its
// own, and that configurations come of its patches. Keys take a second or two to
// make: where there is nothing to try them on, they are made while machines come up.
func checkSecrets(ctx context.Context, s *Session) (*Obstacle, error) {
	_, err := s.readSecret(ctx, SecretTalosSecrets)
	if apierrors.IsNotFound(err) && !s.Plan.patched() {
		return s.secretsLost(s.hadSecrets(ctx))
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	if o, err := makeSecrets(ctx, s); o != nil || err != nil {
		return o, err
	}
	if len(s.Status.Machines) > 0 {
		return nil, nil
	}
	return nil, s.Plan.check(s.access.secrets)
}

// makeSecrets makes the keys of the new cluster, once.
func makeSecrets(ctx context.Context, s *Session) (_ *Obstacle, err error) {
	if s.access.secrets != nil {
		return nil, nil
	}
	s.access.secrets, err = s.keepSecret(ctx, SecretTalosSecrets, func() ([]byte, error) {
		if err := s.hadSecrets(ctx); err != nil {
			return nil, err
		}
		if s.NewSecrets != nil {
			return s.NewSecrets(s.Spec.Talos.Version)
		}
		return talos.NewSecrets(s.Spec.Talos.Version)
	})
	return s.secretsLost(err)
}

// secretsLost turns keys that were deleted into something that can be repaired.
func (s *Session) secretsLost(err error) (*Obstacle, error) {
	if !errors.Is(err, errSecretsLost) {
		return nil, err
	}
	name := SecretName(s.Spec.Cluster.Name, SecretTalosSecrets)
	return &Obstacle{Reason: "SecretDeleted", Message: fmt.Sprintf("Secret %s %v; restore it, or destroy the cluster", name, err)}, nil
}

var errSecretsLost = errors.New("was deleted and is not created again: machines have its keys")

// hadSecrets is an error if the keys, which are missing, were there before. The
// talosconfig is made of them before any machine gets them.
func (s *Session) hadSecrets(ctx context.Context) error {
	_, err := s.readSecret(ctx, SecretTalosconfig)
	if err == nil || slices.ContainsFunc(s.Status.Machines, isConfigured) {
		return errSecretsLost
	}
	return client.IgnoreNotFound(err)
}

func isConfigured(m v1alpha1.BootstrapMachineStatus) bool { return m.TalosConfigured }

// issueTalosconfig makes the credentials for the nodes' Talos API.
func issueTalosconfig(ctx context.Context, s *Session) (_ *Obstacle, err error) {
	s.access.talosconfig, err = s.keepSecret(ctx, SecretTalosconfig, func() ([]byte, error) { return s.newTalosconfig(s.access.secrets) })
	if err != nil {
		return nil, err
	}
	s.Status.Talosconfig = s.inline(s.access.talosconfig)
	s.showCredentials()
	return nil, nil
}

func (s *Session) newTalosconfig(secrets []byte) ([]byte, error) {
	var nodes []string
	for _, m := range s.controlPlanes() {
		nodes = append(nodes, m.IPAddress)
	}
	endpoints := nodes
	if !s.Spec.Provider.OnPrem() {
		endpoints = []string{cmp.Or(s.endpoint.loadBalancer, s.Status.ControlPlaneEndpoint)}
	}
	return talos.Talosconfig(secrets, s.Spec.Cluster.Name, endpoints, nodes[:min(len(nodes), 1)])
}

// keepSecret reads one of the cluster's Secrets, or makes it. Only a create
// that fails if the Secret exists can make it, so content is made at most once
// whatever a cache says. Of those that exist only credentials are ever replaced,
// before they run out.
func (s *Session) keepSecret(ctx context.Context, suffix string, content func() ([]byte, error)) ([]byte, error) {
	data, err := s.readSecret(ctx, suffix)
	if apierrors.IsNotFound(err) {
		return s.createSecret(ctx, suffix, content)
	}
	return data, err
}

func (s *Session) readSecret(ctx context.Context, suffix string) ([]byte, error) {
	secret, err := s.ownSecret(ctx, suffix)
	if err != nil {
		return nil, err
	}
	return secret.Data[suffix], nil
}

func (s *Session) ownSecret(ctx context.Context, suffix string) (*corev1.Secret, error) {
	secret := s.secret(suffix)
	if err := s.Live.Get(ctx, client.ObjectKeyFromObject(secret), secret); err != nil {
		return nil, s.permit(err)
	}
	if secret.Annotations[v1alpha1.AnnotationClusterID] != s.clusterID() {
		return nil, &Failure{Reason: "SecretTaken", Message: fmt.Sprintf("Secret %s/%s belongs to another cluster; delete it if that cluster is gone", secret.Namespace, secret.Name)}
	}
	return secret, nil
}

func (s *Session) secret(suffix string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: s.Namespace, Name: SecretName(s.Spec.Cluster.Name, suffix),
	}}
}

func (s *Session) createSecret(ctx context.Context, key string, content func() ([]byte, error)) ([]byte, error) {
	data, err := content()
	if err != nil {
		return nil, err
	}
	secret := s.secret(key)
	s.mark(secret)
	secret.Data = map[string][]byte{key: data}
	return data, s.permit(s.Client.Create(ctx, secret))
}

// permit adds to the refusal of a Secret who can fix it: the controller has rights
// on those of the namespaces that its chart names.
func (s *Session) permit(err error) error {
	if apierrors.IsForbidden(err) {
		return fmt.Errorf("%w; add namespace %s to clusterNamespaces of chart butler-bootstrap", err, s.Namespace)
	}
	return err
}

// mark ties an object to this bootstrap by labels and by the cluster's id.
// Owner references would not survive a move to another API server.
func (s *Session) mark(o client.Object) {
	o.SetLabels(map[string]string{
		v1alpha1.LabelCluster:          s.Spec.Cluster.Name,
		v1alpha1.LabelClusterBootstrap: s.Name,
		v1alpha1.LabelManagedBy:        fieldOwner,
	})
	o.SetAnnotations(map[string]string{v1alpha1.AnnotationClusterID: s.clusterID()})
}

func (s *Session) clusterID() string { return s.Annotations[v1alpha1.AnnotationClusterID] }
