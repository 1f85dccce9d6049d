// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
)

// settleEndpoint decides where the new API server is reached. It does not change any
// more once a machine has it in its configuration.
func settleEndpoint(_ context.Context, s *Session) (*Obstacle, error) {
	if s.Status.ControlPlaneEndpoint == "" || !slices.ContainsFunc(s.Status.Machines, isConfigured) {
		s.Status.ControlPlaneEndpoint = cmp.Or(s.Plan.Endpoint, s.endpoint.loadBalancer, s.controlPlanes()[0].IPAddress)
	}
	return nil, nil
}

// awaitEndpoint calls the new API server at its endpoint, as all clients will.
func awaitEndpoint(ctx context.Context, s *Session) (*Obstacle, error) {
	err := s.atEndpoint(ctx)
	if err != nil {
		why := s.whySilent(ctx)
		s.markKubeVIP(v1alpha1.AddonWaiting, why)
		message := fmt.Sprintf("%s does not answer: %s%s", s.Status.ControlPlaneEndpoint, why, step.Because(err))
		return &Obstacle{Reason: "WaitingForEndpoint", Message: message, Poll: true}, nil
	}
	s.markKubeVIP(v1alpha1.AddonReady, "")
	return nil, nil
}

func (s *Session) atEndpoint(ctx context.Context) error {
	c, err := s.connect("")
	if err != nil {
		return err
	}
	defer c.close()
	return c.ready(ctx)
}

// whySilent says what has to happen before the endpoint answers.
func (s *Session) whySilent(ctx context.Context) string {
	switch s.Plan.EndpointKind {
	case EndpointKubeVIP:
		return s.kubernetes.cluster.kubeVIPObstacle(ctx)
	case EndpointSharedIP:
		return "no control plane holds the shared address yet"
	case EndpointLoadBalancer:
		if s.Plan.Endpoint != "" {
			return "point it to the load balancer " + s.endpoint.loadBalancer
		}
		return "the load balancer has no healthy control plane yet"
	case EndpointNode:
		return "the API server does not listen there"
	case EndpointExternal:
	}
	var addresses []string
	for _, m := range s.controlPlanes() {
		addresses = append(addresses, m.IPAddress)
	}
	return "point it to " + strings.Join(addresses, ", ")
}
