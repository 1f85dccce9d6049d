// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/talos"
)

const (
	reasonEtcdStarts = "EtcdStarts"
	// etcdPatience is how long etcd may take before it is asked to start again.
	etcdPatience = 30 * time.Second
)

// bootstrapEtcd makes the first control plane the first member of etcd. It is
// always the same node that is asked, Talos refuses as soon as there is data,
// and once a kubeconfig was fetched nobody is asked again: a node that lost its
// disk must not start an empty cluster under the old name.
func bootstrapEtcd(ctx context.Context, s *Session) (*Obstacle, error) {
	if _, err := s.readSecret(ctx, SecretKubeconfig); !apierrors.IsNotFound(err) {
		return nil, err
	}
	client, err := talos.NewClient(s.talosconfig, s.Dial)
	if err != nil {
		return nil, err
	}
	if s.fromAny(ctx, func(ctx context.Context, address string) error { return etcdRuns(ctx, client, address) }) == nil {
		return nil, nil
	}
	first := s.controlPlanes()[0]
	starts := &Obstacle{Reason: reasonEtcdStarts, Message: fmt.Sprintf("etcd starts on %s (%s)", first.Name, first.IPAddress), Poll: true}
	if s.etcdWasAsked() {
		return starts, nil
	}
	ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
	defer cancel()
	if _, err := client.Bootstrap(ctx, first.IPAddress); err != nil {
		return &Obstacle{Reason: "WaitingForEtcd", Message: fmt.Sprintf("%s (%s) is not ready for etcd: %s", first.Name, first.IPAddress, stable(err)), Poll: true}, nil
	}
	return starts, nil
}

// etcdWasAsked tells by the status whether etcd was asked to start a short time
// ago. Talos takes a repeated request as one to begin anew.
func (s *Session) etcdWasAsked() bool {
	c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionProgressing)
	if c == nil || c.Reason != reasonEtcdStarts || s.Status.LastUpdated == nil {
		return false
	}
	return s.Clock().Sub(s.Status.LastUpdated.Time) < etcdPatience
}

// etcdRuns asks for the service: asking etcd itself for its members would wait
// until it runs.
func etcdRuns(ctx context.Context, client *talos.Client, address string) error {
	services, err := client.Services(ctx, address)
	if err != nil {
		return err
	}
	for _, service := range services {
		if service.ID == "etcd" && service.Up() {
			return nil
		}
	}
	return errors.New("etcd does not run")
}
