// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/butlerdotdev/butler/internal/sim/gcp/model"
)

// refusal is an error that the API answers with.
type refusal struct {
	status          int
	reason, message string
	domain          string // default global
	// rpc is the canonical name of the status; empty: the answer has none.
	rpc     string
	details []any
	// header is where the wrong credentials were; empty: the answer does not say so.
	header string
	// bare is the body of a token endpoint: error and error_description.
	bare bool
}

func (r refusal) Error() string { return r.reason + ": " + r.message }

// refuse returns a refusal with status 400.
func refuse(reason, format string, args ...any) error {
	return refusal{status: http.StatusBadRequest, reason: reason, message: fmt.Sprintf(format, args...)}
}

// invalid refuses the value of a field.
func invalid(field, value, format string, args ...any) error {
	return refuse("invalid", "Invalid value for field '%s': '%s'. %s", field, value, fmt.Sprintf(format, args...))
}

// required refuses a request without a field.
func required(field string) error {
	return refuse("required", "Required field '%s' not specified", field)
}

func (c *call) notFound(path string) error {
	return refusal{status: http.StatusNotFound, reason: "notFound", message: fmt.Sprintf("The resource '%s' was not found", c.full(path))}
}

func (c *call) exists(path string) error {
	return refusal{status: http.StatusConflict, reason: "alreadyExists", message: fmt.Sprintf("The resource '%s' already exists", c.full(path))}
}

func (c *call) notReady(path string) error {
	return refuse("resourceNotReady", "The resource '%s' is not ready", c.full(path))
}

// notSimulated refuses a field that has an effect on the platform and none here: to ignore
// it would hide defects.
func notSimulated(field string) error {
	return refuse("invalid", "The simulated platform does not have the field '%s'", field)
}

func conditionNotMet(message string) error {
	return refusal{status: http.StatusPreconditionFailed, reason: "conditionNotMet", message: message}
}

// quotaExceeded is the answer to a call that a quota has no room for.
func quotaExceeded(metric string, limit float64, where string) refusal {
	return refusal{status: http.StatusForbidden, reason: "quotaExceeded", message: quotaText(metric, limit, where)}
}

func quotaText(metric string, limit float64, where string) string {
	return fmt.Sprintf("Quota '%s' exceeded.  Limit: %.1f %s.", metric, limit, where)
}

// wrong answers a request whose parameters or fields are wrong.
func wrong(p *model.Problem) refusal {
	text := fmt.Sprintf("Invalid value for field '%s': '%s'. ", p.Path, p.Value)
	switch p.Kind {
	case model.Unknown:
		return badPayload(p.Path, unknownText(p))
	case model.Malformed:
		return badPayload(p.Path, fmt.Sprintf("Invalid value at '%s' (%s), %q", p.Path, p.Expected(), p.Value))
	case model.NotInEnum:
		text += "Value is not one of the allowed values."
	case model.Pattern:
		text += fmt.Sprintf("Must be a match of regex '%s'", p.Regex())
	}
	return refusal{status: http.StatusBadRequest, reason: "invalid", message: text}
}

func unknownText(p *model.Problem) string {
	if p.Param {
		return fmt.Sprintf("Invalid JSON payload received. Unknown name \"%s\": Cannot bind query parameter. Field '%s' could not be found in request message.", p.Name, p.Name)
	}
	return fmt.Sprintf("Invalid JSON payload received. Unknown name \"%s\" at '%s': Cannot find field.", p.Name, p.Path)
}

// badPayload is the answer to a request that cannot be read.
func badPayload(field, text string) refusal {
	violation := map[string]any{"description": text}
	if field != "" {
		violation["field"] = field
	}
	return refusal{
		status: http.StatusBadRequest, reason: "badRequest", message: text, rpc: "INVALID_ARGUMENT",
		details: []any{map[string]any{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": []any{violation}}},
	}
}

// body is a refusal as the API answers it.
func (r refusal) body() any {
	if r.bare {
		return map[string]any{"error": r.reason, "error_description": r.message}
	}
	domain := r.domain
	domain = cmp.Or(domain, "global")
	one := map[string]any{"message": r.message, "domain": domain, "reason": r.reason}
	if r.header != "" {
		one["location"], one["locationType"] = r.header, "header"
	}
	out := map[string]any{"code": r.status, "message": r.message, "errors": []any{one}}
	if r.rpc != "" {
		out["status"] = r.rpc
	}
	if len(r.details) > 0 {
		out["details"] = r.details
	}
	return map[string]any{"error": out}
}

func writeRefusal(w http.ResponseWriter, err error) {
	var r refusal
	if !errors.As(err, &r) {
		r = refusal{status: http.StatusInternalServerError, reason: "backendError", message: "Internal Error: " + err.Error()}
	}
	if r.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="https://accounts.google.com/", error="invalid_token"`)
	}
	write(w, r.status, r.body())
}

func write(w http.ResponseWriter, status int, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		status, raw = http.StatusInternalServerError, []byte("{}")
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_, _ = w.Write(raw) // the caller may be gone
}
