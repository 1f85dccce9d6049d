// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/butlerdotdev/butler/internal/sim/aws/model"
)

// refusal is an error that a service answers with.
type refusal struct {
	code, message string
	status        int
}

func (r refusal) Error() string { return r.code + ": " + r.message }

// refuse returns a refusal with status 400.
func refuse(code, format string, args ...any) error {
	return refusal{code, fmt.Sprintf(format, args...), http.StatusBadRequest}
}

func write(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Amzn-Requestid", requestID())
	w.WriteHeader(status)
	_, _ = w.Write(body) // the caller may be gone
}

// writeRefusal answers in the form of the service.
func writeRefusal(w http.ResponseWriter, service string, r refusal) {
	var b bytes.Buffer
	detail := fields{"Code", r.code, "Message", r.message}
	switch {
	case speaksJSON(service):
		w.Header().Set("X-Amzn-Errortype", r.code)
		write(w, r.status, jsonType, encodeJSON(fields{"__type", r.code, "Message", r.message}))
		return
	case service == ec2:
		b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
		encode(&b, "Response", fields{"Errors", fields{"Error", detail}, "RequestID", requestID()})
	default:
		kind := "Sender"
		if r.status >= http.StatusInternalServerError {
			kind = "Receiver"
		}
		b.WriteString(`<ErrorResponse xmlns="` + namespace(service) + `">`)
		encode(&b, "Error", append(fields{"Type", kind}, detail...))
		encode(&b, "RequestId", requestID())
		b.WriteString("</ErrorResponse>")
	}
	write(w, r.status, "text/xml;charset=UTF-8", b.Bytes())
}

// wrong answers a request whose parameters are wrong.
func wrong(service string, p *model.Problem) refusal {
	if service != ec2 {
		return refusal{validationCode(service), validation(p), http.StatusBadRequest}
	}
	code, message := "InvalidParameterValue", fmt.Sprintf("Invalid value '%s' for %s", p.Value, p.Path)
	switch p.Kind {
	case model.Unknown:
		code, message = "UnknownParameter", fmt.Sprintf("The parameter %s is not recognized", p.Path)
	case model.Missing:
		code, message = "MissingParameter", fmt.Sprintf("The request must contain the parameter %s", p.Path)
	case model.OutOfRange:
		message = fmt.Sprintf("Value (%s) for parameter %s is invalid. It is out of the range of %s", p.Value, p.Path, limits(p.Parameter))
	case model.Malformed, model.NotInEnum:
	}
	return refusal{code, message, http.StatusBadRequest}
}

func validationCode(service string) string {
	switch service {
	case servicequotas:
		return "IllegalArgumentException"
	case pricing:
		return "ValidationException"
	}
	return "ValidationError"
}

func validation(p *model.Problem) string {
	value := "'" + p.Value + "'"
	constraint := "Member must be of type " + p.Parameter.Kind
	switch p.Kind {
	case model.Unknown:
		return fmt.Sprintf("The parameter %s is not recognized", p.Path)
	case model.Missing:
		value, constraint = "null", "Member must not be null"
	case model.OutOfRange:
		constraint = "Member must be within " + limits(p.Parameter)
	case model.NotInEnum:
		constraint = fmt.Sprintf("Member must satisfy enum value set: %v", p.Parameter.Values)
	case model.Malformed:
	}
	return fmt.Sprintf("1 validation error detected: Value %s at '%s' failed to satisfy constraint: %s", value, p.Path, constraint)
}

func limits(p model.Parameter) string {
	from, to := "", ""
	if p.Min != nil {
		from = fmt.Sprint(*p.Min)
	}
	if p.Max != nil {
		to = fmt.Sprint(*p.Max)
	}
	return from + ".." + to
}
