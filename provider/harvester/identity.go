// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/provider"
)

// identify identifies the Harvester cluster by the UIDs of the namespace kube-system and
// of the one that machines are in, as far as they may be read.
func (m *machines) identify(ctx context.Context) (provider.Identity, error) {
	return m.readMarks(ctx, 2)
}

// identifyAgain reads the first mark that may be read. Calls at the same time share that.
func (m *machines) identifyAgain(ctx context.Context) (provider.Identity, error) {
	identity, err := m.gathered.identity.Do(ctx, "")
	if err != nil {
		return "", apiError("identify the platform", err)
	}
	return identity, nil
}

// readMarks reads up to so many marks.
func (m *machines) readMarks(ctx context.Context, most int) (provider.Identity, error) {
	var marks []provider.Mark
	for _, namespace := range slices.Compact([]string{metav1.NamespaceSystem, m.spec.Namespace}) {
		if len(marks) == most {
			break
		}
		mark, err := m.mark(ctx, namespace)
		if err != nil {
			return "", err
		}
		if mark.Value != "" {
			marks = append(marks, mark)
		}
	}
	return provider.NewIdentity(marks...), nil
}

// mark reads the UID of a namespace; it is empty if it may not be read.
func (m *machines) mark(ctx context.Context, namespace string) (provider.Mark, error) {
	ns := &corev1.Namespace{}
	err := m.api.Get(ctx, client.ObjectKey{Name: namespace}, ns)
	if err != nil && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
		return provider.Mark{}, err
	}
	return provider.Mark{Name: namespace, Value: string(ns.UID)}, nil
}

// identified warns of credentials that may not read what identifies Harvester.
func (p preflight) identified(context.Context, []provider.MachineSpec) ([]provider.Finding, error) {
	f := provider.Finding{Check: "identity of the platform", Verdict: provider.Passed}
	if p.identity == "" {
		f.Verdict = provider.Unknown
		f.Message = fmt.Sprintf("get on namespaces %s and %s is not granted: credentials of another Harvester cluster would go unnoticed", metav1.NamespaceSystem, p.spec.Namespace)
		f.Hint = hintPermission
	}
	return []provider.Finding{f}, nil
}
