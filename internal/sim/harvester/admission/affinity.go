// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// demandHosts demands a label of the hosts, in each of the terms that are there.
func demandHosts(affinity *corev1.Affinity, label string) *corev1.Affinity {
	if affinity == nil {
		affinity = &corev1.Affinity{}
	}
	if affinity.NodeAffinity == nil {
		affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	required := &affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if *required == nil || len((*required).NodeSelectorTerms) == 0 {
		*required = &corev1.NodeSelector{NodeSelectorTerms: make([]corev1.NodeSelectorTerm, 1)}
	}
	terms := (*required).NodeSelectorTerms
	for i := range terms {
		if !slices.ContainsFunc(terms[i].MatchExpressions, func(r corev1.NodeSelectorRequirement) bool { return r.Key == label }) {
			terms[i].MatchExpressions = append(terms[i].MatchExpressions,
				corev1.NodeSelectorRequirement{Key: label, Operator: corev1.NodeSelectorOpIn, Values: []string{"true"}})
		}
	}
	return affinity
}

// dropNetworkTerms removes what an earlier request had demanded for its networks.
func dropNetworkTerms(affinity *corev1.Affinity) {
	if affinity == nil || affinity.NodeAffinity == nil || affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return
	}
	required := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	var kept []corev1.NodeSelectorTerm
	for _, term := range required.NodeSelectorTerms {
		term.MatchExpressions = slices.DeleteFunc(term.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool {
			return strings.HasPrefix(r.Key, networkGroup)
		})
		if len(term.MatchExpressions) > 0 {
			kept = append(kept, term)
		}
	}
	required.NodeSelectorTerms = kept
	if len(kept) == 0 {
		affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
	}
}
