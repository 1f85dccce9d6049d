// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterapi

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func poolOfTest(addresses ...any) *unstructured.Unstructured {
	p := ipam(poolKind)
	p.SetNamespace("tenant")
	p.SetName("demo-v4-icip")
	p.Object["spec"] = map[string]any{"addresses": addresses, "prefix": int64(29), "gateway": "10.0.0.9"}
	return p
}

func addressOfTest(address string) *unstructured.Unstructured {
	a := ipam("IPAddress")
	a.SetNamespace("tenant")
	a.SetName("has-" + strings.ReplaceAll(address, ".", "-"))
	a.Object["spec"] = map[string]any{"address": address, "poolRef": map[string]any{"kind": poolKind, "name": "demo-v4-icip"}}
	return a
}

// TestTheLowestFreeAddressIsHandedOut leaves out the network itself, the gateway, and what is in use.
func TestTheLowestFreeAddressIsHandedOut(t *testing.T) {
	var taken []client.Object
	for _, want := range []string{"10.0.0.10", "10.0.0.11", "10.0.0.13", "10.0.0.14", ""} {
		c := fake.NewClientBuilder().WithObjects(taken...).Build()
		got, err := freeAddress(t.Context(), c, poolOfTest("10.0.0.8-10.0.0.11", "10.0.0.13-10.0.0.15"))
		if want == "" {
			if !errors.Is(err, errNoAddress) {
				t.Errorf("an empty pool gives %s, %v", got, err)
			}
			continue
		}
		if err != nil || got.String() != want {
			t.Errorf("%s, want %s: %v", got, want, err)
		}
		taken = append(taken, addressOfTest(want))
	}
}

// TestAPoolIsNotChangedUnderItsAddresses asks the webhook.
func TestAPoolIsNotChangedUnderItsAddresses(t *testing.T) {
	pools := &ipPools{fake.NewClientBuilder().WithObjects(addressOfTest("10.0.0.10")).Build()}
	for reason, tc := range map[string]struct {
		operation admissionv1.Operation
		addresses []any
		says      string
	}{
		"it grows":                     {admissionv1.Update, []any{"10.0.0.8-10.0.0.11", "10.0.0.14"}, ""},
		"an address in use is missing": {admissionv1.Update, []any{"10.0.0.11"}, "do not contain allocated addresses"},
		"addresses of two networks":    {admissionv1.Create, []any{"10.0.0.10", "10.0.0.16"}, "different subnet"},
		"no address":                   {admissionv1.Create, nil, "addresses is required"},
		"no range":                     {admissionv1.Create, []any{"10.0.0.11-10.0.0.10"}, "not a valid IP"},
		"it is deleted":                {admissionv1.Delete, []any{"10.0.0.10"}, "Cannot delete Pool"},
	} {
		raw := runtime.RawExtension{Raw: fmt.Appendf(nil, `{"metadata":{"namespace":"tenant","name":"demo-v4-icip"},"spec":{"prefix":29,"addresses":%s}}`, list(tc.addresses))}
		r := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: tc.operation, Object: raw, OldObject: raw}}
		got := pools.validate(t.Context(), r)
		if got.Allowed != (tc.says == "") || !got.Allowed && !strings.Contains(got.Result.Message, tc.says) {
			t.Errorf("%s: %+v", reason, got.Result)
		}
	}
}

func list(texts []any) string {
	var quoted []string
	for _, text := range texts {
		quoted = append(quoted, fmt.Sprintf("%q", text))
	}
	return "[" + strings.Join(quoted, ",") + "]"
}
