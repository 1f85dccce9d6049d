// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
)

// removeUnused deletes machine templates and configurations that no machine refers to any more.
func removeUnused(ctx context.Context, s *session) (*step.Obstacle, error) {
	used := s.inUse()
	templates, err := s.list(ctx, s.kinds.template, s.input.Namespace)
	if err != nil {
		return nil, err
	}
	for i := range templates {
		t := &templates[i]
		if t.GetLabels()[v1alpha1.LabelTenant] == s.Name && !used[t.GetName()] && t.GetDeletionTimestamp() == nil {
			if err := s.delete(ctx, t); err != nil {
				return nil, err
			}
		}
	}
	return nil, s.removeData(ctx, used)
}

// removeData deletes Secrets with configurations. They are listed live: this controller
// watches no Secrets.
func (s *session) removeData(ctx context.Context, used map[string]bool) error {
	key, names := keptKey{"data", s.input.Namespace, s.Name}, strings.Join(slices.Sorted(maps.Keys(used)), " ")
	if s.kept(key, names) {
		return nil // there are no others
	}
	var all corev1.SecretList
	if err := s.Live.List(ctx, &all, client.InNamespace(s.input.Namespace), client.MatchingLabels{labelData: "true"}); err != nil {
		return err
	}
	for i := range all.Items {
		if !used[all.Items[i].Name] {
			s.applied.drop(keptKey{"Secret", s.input.Namespace, all.Items[i].Name}.String())
			if err := s.delete(ctx, &all.Items[i]); err != nil {
				return err
			}
		}
	}
	s.unchanged(key, names)
	return nil
}

// inUse are the names of templates and configurations that something refers to.
func (s *session) inUse() map[string]bool {
	used := map[string]bool{s.input.BootstrapSecret: true, s.built.Template.GetName(): true}
	for i := range s.sets {
		used[text(&s.sets[i], "spec", "template", "spec", "bootstrap", "dataSecretName")] = true
		used[text(&s.sets[i], "spec", "template", "spec", "infrastructureRef", "name")] = true
	}
	for i := range s.machines {
		used[text(&s.machines[i], "spec", "bootstrap", "dataSecretName")] = true
	}
	return used
}

func (r *Reconciler) delete(ctx context.Context, o client.Object) error {
	if err := r.Client.Delete(ctx, o); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %s %s: %w", o.GetObjectKind().GroupVersionKind().Kind, o.GetName(), err)
	}
	return nil
}
