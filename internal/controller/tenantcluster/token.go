// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/internal/step"
)

const (
	// tokenTTL is how long a bootstrap token is valid. It is renewed at half of that, so that
	// a machine whose user data has it can take as long as the rest to join.
	tokenTTL    = 4 * time.Hour
	tokenType   = "bootstrap.kubernetes.io/token"
	tokenPrefix = "bootstrap-token-"
	tokenGroup  = "system:bootstrappers:kubeadm:default-node-token"
	kubeSystem  = "kube-system"
	managedBy   = "app.kubernetes.io/managed-by"
)

// renewToken keeps a bootstrap token of this cluster's own, in the tenant and in the tenant
// namespace. Tokens of other programs are neither used nor removed.
func renewToken(ctx context.Context, s *session) (*step.Obstacle, error) {
	ctx, cancel := context.WithTimeout(ctx, exchange)
	defer cancel()
	kept, err := s.secret(ctx, tokenOf(s.Name))
	if err != nil {
		return nil, err
	}
	token, err := s.usable(ctx, kept)
	if err == nil && token == "" {
		token, err = s.newToken(ctx)
	}
	if err != nil {
		return polled("WaitingForKubernetes", "no bootstrap token could be created in the tenant: %s", step.Stable(err)), nil
	}
	s.keys.token = token
	return nil, nil
}

// usable returns the token that is kept, unless it ends soon or the tenant has lost it.
func (s *session) usable(ctx context.Context, kept map[string][]byte) (string, error) {
	id, secret := string(kept["token-id"]), string(kept["token-secret"])
	expires, _ := time.Parse(time.RFC3339, string(kept["expiration"])) // what cannot be read has ended
	if id == "" || secret == "" || expires.Sub(s.Clock()) < tokenTTL/2 {
		return "", nil
	}
	if s.kept(s.tokenKey(), id+"."+secret) {
		return id + "." + secret, nil
	}
	found, err := s.remote.CoreV1().Secrets(kubeSystem).Get(ctx, tokenPrefix+id, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", err
	case string(found.Data["token-secret"]) != secret:
		return "", nil
	}
	s.unchanged(s.tokenKey(), id+"."+secret)
	return id + "." + secret, nil
}

// tokenKey names the token in the tenant.
func (s *session) tokenKey() keptKey { return keptKey{"token", s.input.Namespace, s.Name} }

// newToken creates a token in the tenant, and then records it: one that is not recorded ends
// by itself.
func (s *session) newToken(ctx context.Context) (string, error) {
	id, secret := randomText(6), randomText(16)
	expires := s.Clock().Add(tokenTTL).UTC().Format(time.RFC3339)
	_, err := s.remote.CoreV1().Secrets(kubeSystem).Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: tokenPrefix + id, Labels: map[string]string{managedBy: Owner}},
		Type:       tokenType,
		StringData: map[string]string{
			"token-id": id, "token-secret": secret, "expiration": expires, "auth-extra-groups": tokenGroup,
			"usage-bootstrap-authentication": "true", "usage-bootstrap-signing": "true", "description": "workers of this cluster join with it",
		},
	}, metav1.CreateOptions{FieldManager: Owner})
	if err != nil {
		return "", err
	}
	record := map[string][]byte{"token-id": []byte(id), "token-secret": []byte(secret), "expiration": []byte(expires)}
	if err := s.keepSecret(ctx, tokenOf(s.Name), record); err != nil {
		return "", err
	}
	s.unchanged(s.tokenKey(), id+"."+secret)
	return id + "." + secret, s.removeExpired(ctx)
}

// removeExpired removes this controller's own tokens that have ended.
func (s *session) removeExpired(ctx context.Context) error {
	api := s.remote.CoreV1().Secrets(kubeSystem)
	all, err := api.List(ctx, metav1.ListOptions{LabelSelector: managedBy + "=" + Owner, FieldSelector: "type=" + tokenType})
	if err != nil {
		return err
	}
	for _, one := range all.Items {
		expires, err := time.Parse(time.RFC3339, string(one.Data["expiration"]))
		if err != nil || expires.After(s.Clock()) {
			continue
		}
		if err := api.Delete(ctx, one.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete expired token: %w", err)
		}
	}
	return nil
}

// randomText has lower case letters and digits.
func randomText(length int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	out := make([]byte, length)
	for i := range out {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(letters))))
		if err != nil {
			panic(err) // the operating system has no random numbers
		}
		out[i] = letters[n.Int64()]
	}
	return string(out)
}
