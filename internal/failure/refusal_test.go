// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package failure

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestARefusalIsInTheWordsOfItsRule(t *testing.T) {
	for reason, tc := range map[string]struct{ field, message, want string }{
		"a field":                  {"spec.networking.podCIDR", `Invalid value: "10.0": podCIDR must be a CIDR`, "spec.networking.podCIDR: podCIDR must be a CIDR"},
		"a value with quotes":      {"spec.name", `Invalid value: "a\"b: c": too long`, "spec.name: too long"},
		"a flag":                   {"spec.workspaces.enabled", "Invalid value: true: workspaces are not served", "spec.workspaces.enabled: workspaces are not served"},
		"the object as a whole":    {"<nil>", "Invalid value: there is no way back", "there is no way back"},
		"a policy":                 {"", "ValidatingAdmissionPolicy 'a' with binding 'a' denied request: spec.b: not served", "spec.b: not served"},
		"a message that is no one": {"spec.a", "Required value", "spec.a: Required value"},
	} {
		err := fmt.Errorf("apply: %w", &apierrors.StatusError{ErrStatus: metav1.Status{Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Field: tc.field, Message: tc.message}}}}})
		if all := Refusals(err); len(all) != 1 || all[0].String() != tc.want {
			t.Errorf("%s: %q, want %q", reason, all, tc.want)
		}
	}
	if all := Refusals(errors.New("no answer")); len(all) != 0 {
		t.Errorf("no answer is a refusal: %q", all)
	}
}
