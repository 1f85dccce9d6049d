// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package admission carries the admission policies of this project: the rules
// on its kinds that no schema can say.
package admission

import (
	"bytes"
	"context"
	_ "embed" // for the policy
	"encoding/json"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	client "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

//go:embed policies/identity.yaml
var identity []byte

// Identity returns the policy that keeps the ids of objects, and its binding.
func Identity() (*admissionv1.ValidatingAdmissionPolicy, *admissionv1.ValidatingAdmissionPolicyBinding, error) {
	first, second, _ := bytes.Cut(identity, []byte("\n---\n"))
	policy, binding := &admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyBinding{}
	if err := yaml.UnmarshalStrict(first, policy); err != nil {
		return nil, nil, fmt.Errorf("identity policy: %w", err)
	}
	if err := yaml.UnmarshalStrict(second, binding); err != nil {
		return nil, nil, fmt.Errorf("identity binding: %w", err)
	}
	return policy, binding, nil
}

// Apply has an API server keep the policies. Repeating it changes nothing. They
// are in force a moment after it returns.
func Apply(ctx context.Context, c *rest.Config) error {
	policy, binding, err := Identity()
	if err != nil {
		return err
	}
	api, err := client.NewForConfig(c)
	if err != nil {
		return err
	}
	options := metav1.PatchOptions{FieldManager: "butler", Force: new(true)}
	data, err := json.Marshal(policy)
	if err != nil {
		return err
	}
	if _, err := api.ValidatingAdmissionPolicies().Patch(ctx, policy.Name, types.ApplyPatchType, data, options); err != nil {
		return fmt.Errorf("apply policy %s: %w", policy.Name, err)
	}
	if data, err = json.Marshal(binding); err != nil {
		return err
	}
	if _, err := api.ValidatingAdmissionPolicyBindings().Patch(ctx, binding.Name, types.ApplyPatchType, data, options); err != nil {
		return fmt.Errorf("apply binding of policy %s: %w", binding.Name, err)
	}
	return nil
}
