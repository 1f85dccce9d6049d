// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// hookError is the failure of a hook of a chart.
type hookError struct{ error }

func (e hookError) Unwrap() error { return e.error }

// failureReason returns the reason of an addon that failed at a stage.
func failureReason(at stage, err error) string {
	_, hook := errors.AsType[hookError](err)
	switch {
	case at == fetching:
		return v1alpha1.AddonFetchFailed
	case hook:
		return v1alpha1.AddonHookFailed
	case ofWebhook(err):
		return v1alpha1.AddonWebhookRefused
	}
	return v1alpha1.AddonApplyFailed
}

// ofWebhook reports whether an API server refused an object because of a webhook, which
// said no or did not answer. Its status has no code for that.
func ofWebhook(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && strings.Contains(err.Error(), "webhook")
}
