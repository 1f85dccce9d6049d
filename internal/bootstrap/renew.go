// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/talos"
)

const (
	// renewal is how long before its end a certificate is renewed. Talos issues them
	// for a year, unless a patch sets adminKubeconfig.certLifetime.
	renewal = 30 * 24 * time.Hour

	reasonRenewed = "CredentialsRenewed"
)

// ErrExpired is returned for credentials that have expired and cannot be issued again
// at present.
var ErrExpired = errors.New("has expired")

// renewCredentials renews the cluster's credentials before they expire. It is the first
// step, so that no obstacle can block it, and never blocks itself: while it does not
// succeed, the old ones are used.
func renewCredentials(ctx context.Context, s *Session) (*Obstacle, error) {
	for _, suffix := range []string{SecretTalosconfig, SecretKubeconfig} {
		_, err := s.Credential(ctx, suffix, false)
		switch {
		case errors.Is(err, ErrExpired):
			s.kubernetes.expired = err.Error()
		case client.IgnoreNotFound(err) != nil:
			return nil, err
		}
	}
	return nil, nil
}

// Credential returns the content of SecretTalosconfig or SecretKubeconfig. If that is about to
// run out, or with renew in any case, another takes its place first: a talosconfig is
// made of the cluster's keys, and a kubeconfig fetched from any control plane. As long
// as the old one holds, it is no error if there is no other.
func (s *Session) Credential(ctx context.Context, suffix string, renew bool) ([]byte, error) {
	secret, err := s.ownSecret(ctx, suffix)
	if err != nil {
		return nil, err
	}
	old := secret.Data[suffix]
	certificate := certificateOf(suffix, old)
	if !renew && !s.isDue(certificate) {
		return old, nil
	}
	data, err := s.issue(ctx, suffix)
	switch {
	case err == nil:
		return data, s.replace(ctx, secret, suffix, data)
	case renew:
		return nil, fmt.Errorf("no new %s could be issued: %s", suffix, step.Stable(err))
	case s.Clock().After(certificate.NotAfter):
		return nil, fmt.Errorf("the %s %w, and no new one could be issued: %s", suffix, ErrExpired, step.Stable(err))
	}
	return old, nil
}

// issue makes a credential with nothing but the cluster's keys.
func (s *Session) issue(ctx context.Context, suffix string) ([]byte, error) {
	secrets, err := s.readSecret(ctx, SecretTalosSecrets)
	if err != nil {
		return nil, err
	}
	talosconfig, err := s.newTalosconfig(secrets)
	if err != nil || suffix == SecretTalosconfig {
		return talosconfig, err
	}
	nodes, err := talos.NewClient(talosconfig, s.Dial)
	if err != nil {
		return nil, err
	}
	return fromAny(ctx, s, nodes.Through(s.route).Kubeconfig)
}

// replace stores a credential in place of the one that was read, in one write: there
// is never none. What another client has stored meanwhile is not overwritten.
func (s *Session) replace(ctx context.Context, secret *corev1.Secret, suffix string, data []byte) error {
	secret.Data = map[string][]byte{suffix: data}
	if err := s.Client.Update(ctx, secret); err != nil {
		return s.permit(err)
	}
	if s.Record != nil {
		s.Record(Event{corev1.EventTypeNormal, reasonRenewed, fmt.Sprintf("the %s was about to expire and has been renewed", suffix)})
	}
	return nil
}

// isDue reports whether a certificate is to be renewed; nil is none, which does not
// run out. One that is short-lived is left alone until two thirds of its time are
// over.
func (s *Session) isDue(c *x509.Certificate) bool {
	return c != nil && c.NotAfter.Sub(s.Clock()) < min(renewal, c.NotAfter.Sub(c.NotBefore)/3)
}

// Expiry returns when what SecretTalosconfig or SecretKubeconfig holds ends; false if it
// cannot be read.
func Expiry(suffix string, data []byte) (time.Time, bool) {
	c := certificateOf(suffix, data)
	if c == nil {
		return time.Time{}, false
	}
	return c.NotAfter, true
}

// certificateOf is what a credential shows of its user; nil is none that can be read.
func certificateOf(suffix string, data []byte) *x509.Certificate {
	if suffix == SecretTalosconfig {
		c, err := talos.NewClient(data, nil)
		if err != nil {
			return nil
		}
		return c.Certificate()
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(data)
	if err != nil {
		return nil
	}
	block, _ := pem.Decode(config.CertData)
	if block == nil {
		return nil
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil
	}
	return c
}
