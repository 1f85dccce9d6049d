// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package admission carries the admission policies of this project: the rules
// on its kinds that no schema can say.
package admission

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	client "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

//go:embed policies/*.yaml
var files embed.FS

// identity is the file of the policy that keeps the ids of objects.
const identity = "policies/identity.yaml"

// Identity returns the policy that keeps the ids of objects, and its binding.
func Identity() (*admissionv1.ValidatingAdmissionPolicy, *admissionv1.ValidatingAdmissionPolicyBinding, error) {
	all, err := documents(identity)
	if err != nil {
		return nil, nil, err
	}
	policy, binding := &admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyBinding{}
	if err := yaml.UnmarshalStrict(all[0], policy); err != nil {
		return nil, nil, fmt.Errorf("identity policy: %w", err)
	}
	if err := yaml.UnmarshalStrict(all[1], binding); err != nil {
		return nil, nil, fmt.Errorf("identity binding: %w", err)
	}
	return policy, binding, nil
}

// documents are the parts of the files that match a pattern.
func documents(pattern string) (out [][]byte, err error) {
	names, err := fs.Glob(files, pattern)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		out = append(out, bytes.Split(data, []byte("\n---\n"))...)
	}
	return out, nil
}

// Apply applies the policies to an API server. Repeating it changes nothing. They
// are in force a moment after it returns.
func Apply(ctx context.Context, c *rest.Config) error {
	api, err := client.NewForConfig(c)
	if err != nil {
		return err
	}
	all, err := documents("policies/*.yaml")
	if err != nil {
		return err
	}
	for _, data := range all {
		if err := apply(ctx, api, data); err != nil {
			return err
		}
	}
	return nil
}

func apply(ctx context.Context, api client.AdmissionregistrationV1Interface, data []byte) (err error) {
	o := &metav1.PartialObjectMetadata{}
	if err := yaml.Unmarshal(data, o); err != nil {
		return err
	}
	if data, err = yaml.YAMLToJSONStrict(data); err != nil {
		return err
	}
	options := metav1.PatchOptions{FieldManager: "butler", Force: new(true), FieldValidation: metav1.FieldValidationStrict}
	if strings.HasSuffix(o.Kind, "Binding") {
		_, err = api.ValidatingAdmissionPolicyBindings().Patch(ctx, o.Name, types.ApplyPatchType, data, options)
	} else {
		_, err = api.ValidatingAdmissionPolicies().Patch(ctx, o.Name, types.ApplyPatchType, data, options)
	}
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", o.Kind, o.Name, err)
	}
	return nil
}
