// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/nutanix/model"
)

// apiVersion is what all answers have.
const apiVersion = "3.1"

// refusal is an error that the API answers with.
type refusal struct {
	status          int
	reason, message string
	kind            string // of the entity; empty: the answer has none
	details         any
	// plain is the body of an answer that is no JSON.
	plain      string
	retryAfter time.Duration
}

func (r refusal) Error() string { return r.reason + ": " + r.message }

// invalid refuses a request whose body cannot be carried out. Details are by the path of
// the field.
func invalid(path, format string, args ...any) error {
	return unprocessable(map[string][]string{path: {fmt.Sprintf(format, args...)}})
}

func unprocessable(details any) error {
	return refusal{status: http.StatusUnprocessableEntity, reason: "INVALID_REQUEST", message: "Request could not be processed.", details: details}
}

func wrong(p model.Problems) error { return unprocessable(p) }

// notSimulated refuses a field that has an effect on the platform and none here: to ignore
// it would hide defects.
func notSimulated(path string) error {
	return invalid(path, "The simulated platform does not have the field '%s'", path)
}

func notFound(kind, id string) error {
	return refusal{status: http.StatusNotFound, kind: kind, reason: "ENTITY_NOT_FOUND", message: kind + " : " + id + " does not exist."}
}

// editConflict refuses a change of a spec that is not the present one.
func editConflict(kind string) error {
	return refusal{status: http.StatusConflict, kind: kind, reason: "CONCURRENT_REQUESTS_NOT_ALLOWED", message: "Edit conflict: please retry change."}
}

func accessDenied(permission string) error {
	return refusal{
		status: http.StatusForbidden, reason: "ACCESS_DENIED", message: "No permission to access the resource.",
		details: map[string]string{"permission": permission},
	}
}

// unauthenticated refuses a call without credentials.
func unauthenticated() error {
	return refusal{
		status: http.StatusUnauthorized, reason: "AUTHENTICATION_REQUIRED", message: "Authentication required.",
		details: `Basic realm="Intent Gateway Login Required"`,
	}
}

// wrongCredentials refuses a user, a password or a session that is not known: the answer
// is that of the proxy before the API, and no JSON.
func wrongCredentials() error {
	return refusal{
		status: http.StatusUnauthorized, reason: "AUTHENTICATION_REQUIRED", message: "Authentication failed.",
		plain: "<html><head><title>401 Unauthorized</title></head><body>Authentication failed</body></html>\n",
	}
}

// body is a refusal as the API answers it.
func (r refusal) body() object {
	one := object{"message": r.message, "reason": r.reason}
	if r.details != nil {
		one["details"] = r.details
	}
	out := object{"api_version": apiVersion, "code": r.status, "message_list": []any{one}, "state": "ERROR"}
	if r.kind != "" {
		out["kind"] = r.kind
	}
	return out
}

func writeRefusal(w http.ResponseWriter, err error) {
	var r refusal
	if !errors.As(err, &r) {
		r = refusal{status: http.StatusInternalServerError, reason: "INTERNAL_ERROR", message: "Internal Server Error. " + err.Error()}
	}
	if r.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Basic realm="Intent Gateway Login Required"`)
	}
	if r.retryAfter > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(int(r.retryAfter.Seconds())))
	}
	if r.plain == "" {
		write(w, r.status, r.body())
		return
	}
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(r.status)
	_, _ = strings.NewReader(r.plain).WriteTo(w) // the caller may be gone
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	if body == nil {
		w.WriteHeader(status)
		return
	}
	raw, err := json.Marshal(body)
	if err != nil {
		status, raw = http.StatusInternalServerError, []byte("{}")
	}
	w.WriteHeader(status)
	_, _ = w.Write(raw) // the caller may be gone
}
