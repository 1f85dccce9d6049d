// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/step"
)

// gcpMachine is the kind of machines of cluster-api-provider-gcp. It has no conditions: why the
// cloud refuses a machine is in events only.
const gcpMachine = "GCPMachine"

// readWarnings reads the last warning of each machine, if one waits for its cloud.
func (s *session) readWarnings(ctx context.Context) error {
	waits := func(m unstructured.Unstructured) bool { return text(&m, "spec", "providerID") == "" }
	if s.provider.Spec.GCP == nil || !slices.ContainsFunc(s.machines, waits) {
		return nil
	}
	var err error
	s.warnings, err = s.lastWarnings(ctx)
	return err
}

// lastWarnings returns the last warning of each machine of the provider, by its name.
func (s *session) lastWarnings(ctx context.Context) (map[string]string, error) {
	list := &corev1.EventList{}
	err := s.Live.List(ctx, list, client.InNamespace(tenantNamespace(s.TenantCluster)), client.MatchingFields{"type": corev1.EventTypeWarning, "involvedObject.kind": gcpMachine})
	if err != nil {
		return nil, fmt.Errorf("read the events of machines: %w", err)
	}
	slices.SortFunc(list.Items, func(a, b corev1.Event) int { return a.LastTimestamp.Compare(b.LastTimestamp.Time) })
	out := map[string]string{}
	for _, e := range list.Items {
		out[e.InvolvedObject.Name] = step.Stable(errors.New(e.Message))
	}
	return out, nil
}

// whyKept is why the platform does not delete a machine, as its provider says; empty if it says
// nothing.
func (s *session) whyKept(ctx context.Context, m *unstructured.Unstructured) (string, error) {
	if message := falseMessage(m, "InfrastructureReady"); message != "" {
		return ": " + message, nil
	}
	if text(m, "spec", "infrastructureRef", "kind") != gcpMachine {
		return "", nil
	}
	warnings, err := s.lastWarnings(ctx)
	if w := warnings[text(m, "spec", "infrastructureRef", "name")]; w != "" {
		return ": " + w, nil
	}
	return "", err
}

// troubleOf is what a machine waits for.
func (s *session) troubleOf(m *unstructured.Unstructured) string {
	if w := s.warnings[text(m, "spec", "infrastructureRef", "name")]; w != "" && text(m, "spec", "providerID") == "" {
		return ": " + w
	}
	return trouble(m)
}
