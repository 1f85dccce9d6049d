// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"errors"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// refusal is an answer of a webhook that says no. The API server puts the name of the
// webhook before its message.
type refusal struct{ metav1.Status }

// Error returns the message.
func (r *refusal) Error() string { return r.Message }

// denial answers with a refusal, or with 500 for any other error, as both platforms do.
func denial(err error) admission.Response {
	r, ok := errors.AsType[*refusal](err)
	if !ok {
		return internalError(err)
	}
	response := admission.Denied("")
	response.Result = &r.Status
	return response
}

func internalError(err error) admission.Response {
	return denial(refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError, err.Error()))
}

func refuse(code int32, reason metav1.StatusReason, message string) *refusal {
	return &refusal{metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message}}
}

// invalid refuses an object for all of the causes, and accepts it without one.
func invalid(causes ...metav1.StatusCause) error {
	if len(causes) == 0 {
		return nil
	}
	var messages []string
	for _, c := range causes {
		messages = append(messages, c.Message)
	}
	r := refuse(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, strings.Join(messages, ", "))
	r.Details = &metav1.StatusDetails{Causes: causes}
	return r
}

// wrong is the cause of most refusals: the value of a field.
func wrong(field, message string) metav1.StatusCause {
	return metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Field: field, Message: message}
}
