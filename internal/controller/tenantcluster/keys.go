// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/butlerdotdev/butler/internal/step"
	"github.com/butlerdotdev/butler/internal/talos"
	"github.com/butlerdotdev/butler/internal/tenant"
)

// keys are what workers join with.
type keys struct {
	clusterCA []byte
	// talosCA and talosKey are the authority of the Talos API, talosToken what trustd accepts.
	talosCA, talosKey []byte
	talosToken        string
	// token is the bootstrap token.
	token string
}

// Names of Secrets in the tenant namespace. The first two are the control plane provider's.
func authorityOf(cluster string) string   { return cluster + "-ca" }
func trustdOf(cluster string) string      { return cluster + "-trustd-creds" }
func ownTalosOf(cluster string) string    { return cluster + "-talos-ca" }
func tokenOf(cluster string) string       { return cluster + "-bootstrap-token" }
func talosconfigOf(cluster string) string { return cluster + "-talosconfig" }

// readKeys reads the authorities of the cluster. Without a host that issues certificates for
// the Talos API, workers get an authority of their own: they run, and talosctl does not.
func readKeys(ctx context.Context, s *session) (*step.Obstacle, error) {
	ca, err := s.secret(ctx, authorityOf(s.Name))
	if err != nil {
		return nil, err
	}
	if s.keys.clusterCA = ca[corev1.TLSCertKey]; len(s.keys.clusterCA) == 0 {
		return polled("WaitingForAuthority", "Secret %s has no certificate yet", authorityOf(s.Name)), nil
	}
	s.keys.clusterCA = firstCertificate(s.keys.clusterCA)
	if ok, _ := tenant.TalosAPI(s.input); ok {
		return s.readTrustd(ctx)
	}
	return nil, s.ownTalos(ctx)
}

func (s *session) readTrustd(ctx context.Context) (*step.Obstacle, error) {
	name := trustdOf(s.Name)
	data, err := s.secret(ctx, name)
	if err != nil {
		return nil, err
	}
	s.keys.talosCA, s.keys.talosKey, s.keys.talosToken = data["os-ca.crt"], data["os-ca.key"], string(data["token"])
	if len(s.keys.talosCA) == 0 || len(s.keys.talosKey) == 0 || s.keys.talosToken == "" {
		return polled("WaitingForTrustd", "Secret %s has no authority of the Talos API yet", name), nil
	}
	return nil, nil
}

// ownTalos creates the authority once and keeps it.
func (s *session) ownTalos(ctx context.Context) error {
	name := ownTalosOf(s.Name)
	data, err := s.secret(ctx, name)
	if err != nil {
		return err
	}
	if len(data) == 0 {
		fresh, err := talos.NewAuthority(s.Spec.Workers.MachineTemplate.OS.Talos.Version)
		if err != nil {
			return &step.Failure{Reason: "NotServed", Message: err.Error()}
		}
		data = map[string][]byte{"os-ca.crt": fresh.Certificate, "os-ca.key": fresh.Key, "token": []byte(fresh.Token)}
		secret := &corev1.Secret{Data: data}
		secret.Name, secret.Namespace, secret.Labels = name, s.input.Namespace, s.labels()
		if err := s.Client.Create(ctx, secret); err != nil {
			return err
		}
	}
	s.keys.talosCA, s.keys.talosKey, s.keys.talosToken = data["os-ca.crt"], data["os-ca.key"], string(data["token"])
	return nil
}

// firstCertificate is the first of several in PEM: Talos wants one.
func firstCertificate(all []byte) []byte {
	block, _ := pem.Decode(all)
	if block == nil {
		return all
	}
	return pem.EncodeToMemory(block)
}

// talosconfigTTL is how long the administrator's certificate of the Talos API is valid. It is
// renewed at half of that.
const talosconfigTTL = 30 * 24 * time.Hour

// keepTalosconfig keeps a Secret for butleradm tenant talosconfig, as long as the Talos API of
// the workers can be reached at all.
func keepTalosconfig(ctx context.Context, s *session) (*step.Obstacle, error) {
	if ok, _ := tenant.TalosAPI(s.input); !ok {
		return nil, nil
	}
	addresses := s.workerAddresses()
	name := talosconfigOf(s.Name)
	data, err := s.secret(ctx, name)
	if err != nil {
		return nil, err
	}
	if talosconfigFits(data["talosconfig"], s.keys.talosCA, addresses, s.Clock()) {
		return nil, nil
	}
	fresh, err := talos.HostedTalosconfig(s.Name, s.keys.talosCA, s.keys.talosKey, addresses, talosconfigTTL)
	if err != nil {
		return nil, err
	}
	return nil, s.keepSecret(ctx, name, map[string][]byte{"talosconfig": fresh})
}

// talosconfigFits reports whether a talosconfig is of this authority, for these nodes, and
// valid for long enough.
func talosconfigFits(talosconfig, ca []byte, nodes []string, now time.Time) bool {
	if len(talosconfig) == 0 {
		return false
	}
	is, err := talos.ReadTalosconfig(talosconfig)
	if err != nil || !slices.Equal(is.Nodes, nodes) {
		return false
	}
	return is.Expires.Sub(now) > talosconfigTTL/2 && signedBy(is.Certificate, ca) == nil
}

func signedBy(certificate *x509.Certificate, ca []byte) error {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		return errors.New("the authority is not a certificate")
	}
	if _, err := certificate.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}); err != nil {
		return fmt.Errorf("it was issued by another authority: %w", err)
	}
	return nil
}
