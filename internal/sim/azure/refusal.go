// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// refusal is an error that the resource manager answers with.
type refusal struct {
	status        int
	code, message string
	target        string
	details       []refusal
	retryAfter    int // seconds; 0: none
}

func (r refusal) Error() string { return r.code + ": " + r.message }

// MarshalJSON implements json.Marshaler.
func (r refusal) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Code    string    `json:"code"`
		Message string    `json:"message"`
		Target  string    `json:"target,omitempty"`
		Details []refusal `json:"details,omitempty"`
	}{r.code, r.message, r.target, r.details})
}

func refuse(status int, code, format string, args ...any) refusal {
	return refusal{status: status, code: code, message: fmt.Sprintf(format, args...)}
}

func bad(code, format string, args ...any) refusal {
	return refuse(http.StatusBadRequest, code, format, args...)
}

func conflicts(code, format string, args ...any) refusal {
	return refuse(http.StatusConflict, code, format, args...)
}

// about names the property that is wrong.
func (r refusal) about(target string) refusal {
	r.target = target
	return r
}

func invalidParameter(target, format string, args ...any) refusal {
	return bad("InvalidParameter", format, args...).about(target)
}

func missingParameter(target string) refusal {
	return invalidParameter(target, "Required parameter '%s' is missing (null).", target)
}

// notSimulated refuses what the platform has and the simulator does not: to ignore it
// would hide defects.
func notSimulated(what string) refusal {
	return bad("NotSimulated", "The simulated platform does not have %s.", what)
}

func notFound(id resourceID) refusal {
	if id.group == "" {
		return refuse(http.StatusNotFound, "ResourceNotFound", "The resource '%s' was not found.", id)
	}
	return refuse(http.StatusNotFound, "ResourceNotFound",
		"The Resource '%s/%s' under resource group '%s' was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix",
		id.kind(), strings.Join(id.names, "/"), id.group)
}

func groupNotFound(name string) refusal {
	return refuse(http.StatusNotFound, "ResourceGroupNotFound", "Resource group '%s' could not be found.", name)
}

// writeJSON answers with a value.
func writeJSON(w http.ResponseWriter, status int, value any) {
	raw, err := json.Marshal(value)
	if err != nil {
		status, raw = http.StatusInternalServerError, []byte(`{"error":{"code":"InternalServerError","message":"`+err.Error()+`"}}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("X-Ms-Request-Id", newUUID())
	h.Set("X-Ms-Correlation-Request-Id", newUUID())
	w.WriteHeader(status)
	if status != http.StatusNoContent {
		_, _ = w.Write(raw) // the caller may be gone
	}
}

func writeRefusal(w http.ResponseWriter, r refusal) {
	if r.retryAfter > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(r.retryAfter))
	}
	if r.status == http.StatusUnauthorized {
		w.Header().Set("Www-Authenticate", fmt.Sprintf(`Bearer authorization_uri="https://login.windows.net/", error="invalid_token", error_description="%s"`, r.message))
	}
	w.Header().Set("X-Ms-Failure-Cause", "gateway")
	writeJSON(w, r.status, map[string]any{"error": r})
}
