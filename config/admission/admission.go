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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	return forEach(c, func(api client.AdmissionregistrationV1Interface, o *unstructured.Unstructured) error {
		return apply(ctx, api, o)
	})
}

// ApplyOwn is Apply for an API server that may have policies of these names already. Those
// without the label are left as they are; all others have it afterwards.
func ApplyOwn(ctx context.Context, c *rest.Config, label, value string) error {
	return forEach(c, func(api client.AdmissionregistrationV1Interface, o *unstructured.Unstructured) error {
		labels, err := labelsOf(ctx, api, o)
		if err == nil && labels[label] != value {
			return nil
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("read %s %s: %w", o.GetKind(), o.GetName(), err)
		}
		o.SetLabels(map[string]string{label: value})
		return apply(ctx, api, o)
	})
}

// forEach calls f with each policy and binding.
func forEach(c *rest.Config, f func(client.AdmissionregistrationV1Interface, *unstructured.Unstructured) error) error {
	api, err := client.NewForConfig(c)
	if err != nil {
		return err
	}
	all, err := documents("policies/*.yaml")
	if err != nil {
		return err
	}
	for _, data := range all {
		o := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict(data, &o.Object); err != nil {
			return err
		}
		if err := f(api, o); err != nil {
			return err
		}
	}
	return nil
}

func isBinding(o *unstructured.Unstructured) bool { return strings.HasSuffix(o.GetKind(), "Binding") }

// labelsOf are the labels that an API server has for a policy or binding.
func labelsOf(ctx context.Context, api client.AdmissionregistrationV1Interface, o *unstructured.Unstructured) (map[string]string, error) {
	var found metav1.Object
	var err error
	if isBinding(o) {
		found, err = api.ValidatingAdmissionPolicyBindings().Get(ctx, o.GetName(), metav1.GetOptions{})
	} else {
		found, err = api.ValidatingAdmissionPolicies().Get(ctx, o.GetName(), metav1.GetOptions{})
	}
	if err != nil {
		return nil, err
	}
	return found.GetLabels(), nil
}

func apply(ctx context.Context, api client.AdmissionregistrationV1Interface, o *unstructured.Unstructured) error {
	data, err := o.MarshalJSON()
	if err != nil {
		return err
	}
	options := metav1.PatchOptions{FieldManager: "butler", Force: new(true), FieldValidation: metav1.FieldValidationStrict}
	if isBinding(o) {
		_, err = api.ValidatingAdmissionPolicyBindings().Patch(ctx, o.GetName(), types.ApplyPatchType, data, options)
	} else {
		_, err = api.ValidatingAdmissionPolicies().Patch(ctx, o.GetName(), types.ApplyPatchType, data, options)
	}
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}
