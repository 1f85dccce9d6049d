// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/butlerdotdev/butler/provider"
)

// denial is how an API server passes on a webhook's refusal; code is the webhook's.
func denial(code int32, reason metav1.StatusReason, text string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason,
		Message: `admission webhook "validator.harvesterhci.io" denied the request: ` + text,
	}}
}

func terminating() error {
	err := apierrors.NewForbidden(schema.GroupResource{Resource: "virtualmachines"}, "a", errors.New("unable to create new content in namespace x because it is being terminated"))
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	return err
}

func TestRefusalsAreNotOutages(t *testing.T) {
	claims := schema.GroupResource{Resource: "persistentvolumeclaims"}
	cases := map[string]struct {
		err    error
		kind   provider.Kind
		reason string
		words  string
	}{
		"a webhook denies with code 500": {
			denial(500, metav1.StatusReasonInternalError, `network-attachment-definitions.k8s.cni.cncf.io "nope" not found`),
			provider.Invalid, "PlatformRefused", `"nope" not found`,
		},
		"a webhook denies for lack of quota": {
			denial(500, metav1.StatusReasonInternalError, "cpu insufficient resources due to resource quota"),
			provider.Exhausted, "QuotaExceeded", "cpu insufficient",
		},
		"a webhook cannot be called": {
			apierrors.NewInternalError(errors.New(`failed calling webhook "validator.harvesterhci.io": no endpoints available`)),
			provider.Unavailable, "PlatformUnavailable", "no endpoints",
		},
		"an object is in use": {
			denial(409, metav1.StatusReasonConflict, "can not delete the volume a-root which is currently attached to VMs: default/copy"),
			provider.Unavailable, "PlatformConflict", "attached to VMs: default/copy",
		},
		"an object has changed": {
			apierrors.NewConflict(claims, "a-root", errors.New("the object has been modified")),
			provider.Unavailable, "PlatformConflict", "has been modified",
		},
		"the namespace is being deleted": {terminating(), provider.Invalid, "NamespaceTerminating", "being terminated"},
	}
	for name, c := range cases {
		err := apiError("try", c.err)
		if provider.KindOf(err) != c.kind || provider.ReasonOf(err) != c.reason || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %s %s: %v; want %s %s", name, provider.KindOf(err), provider.ReasonOf(err), err, c.kind, c.reason)
		}
		if c.kind != provider.Unavailable && strings.Contains(err.Error(), "is up") {
			t.Errorf("%s: %v takes a refusal for an outage", name, err)
		}
	}
}
