// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// refusal is an error that the API answers with. Its message is in the status line.
type refusal struct {
	status  int
	message string
	errors  map[string]string // by parameter
	// bare is the answer of the HTTP server itself, which has no JSON.
	bare bool
}

func (r refusal) Error() string { return r.message }

// fail is an error in the middle of a call: the API has no status of its own for it.
func fail(format string, args ...any) error {
	return refusal{status: http.StatusInternalServerError, message: fmt.Sprintf(format, args...)}
}

// wrongParam refuses the value of a parameter.
func wrongParam(name, format string, args ...any) error {
	return wrongParams(map[string]string{name: fmt.Sprintf(format, args...)})
}

func wrongParams(errs map[string]string) error {
	return refusal{status: http.StatusBadRequest, message: "Parameter verification failed.", errors: errs}
}

// denied refuses a caller without a privilege; what is empty where the platform does not
// say which.
func denied(what string) error {
	message := "Permission check failed"
	if what != "" {
		message += " (" + what + ")"
	}
	return refusal{status: http.StatusForbidden, message: message}
}

func unauthorized(message string) error {
	return refusal{status: http.StatusUnauthorized, message: message, bare: true}
}

// server is an answer of the HTTP server.
func server(status int, format string, args ...any) error {
	return refusal{status: status, message: fmt.Sprintf(format, args...), bare: true}
}

// listed is a result with the number of all entries.
type listed struct {
	data  any
	total int
}

// encode returns the body of an answer.
func encode(result any) ([]byte, error) {
	body := map[string]any{"data": result}
	if l, is := result.(listed); is {
		body["data"], body["total"] = l.data, l.total
	}
	return json.Marshal(body)
}

// write sends an answer, or the refusal of a call.
func write(w http.ResponseWriter, raw []byte, err error) {
	if err != nil {
		writeRefusal(w, err)
		return
	}
	stamp(w.Header())
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(raw) // the caller may be gone
}

func stamp(h http.Header) {
	h.Set("Server", "pve-api-daemon/3.0")
	h.Set("Pragma", "no-cache")
	h.Set("Cache-Control", "max-age=0")
}

// writeRefusal answers with the message in the status line, and ends the connection, as the
// platform does.
func writeRefusal(w http.ResponseWriter, err error) {
	var r refusal
	if !errors.As(err, &r) {
		r = refusal{status: http.StatusInternalServerError, message: err.Error()}
	}
	line, _, _ := strings.Cut(r.message, "\n")
	body, kind := r.body()
	conn, buffer, err := http.NewResponseController(w).Hijack()
	if err != nil { // the answer is not read
		w.WriteHeader(r.status)
		return
	}
	defer conn.Close()
	_ = conn.SetWriteDeadline(time.Now().Add(time.Minute))
	fmt.Fprintf(buffer, "HTTP/1.1 %d %s\r\nServer: pve-api-daemon/3.0\r\nPragma: no-cache\r\nCache-Control: max-age=0\r\nDate: %s\r\n",
		r.status, line, time.Now().UTC().Format(http.TimeFormat))
	if kind != "" {
		fmt.Fprintf(buffer, "Content-Type: %s\r\n", kind)
	}
	fmt.Fprintf(buffer, "Content-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)
	_ = buffer.Flush() // the caller may be gone
}

// body is the content of a refusal and its type.
func (r refusal) body() (content []byte, kind string) {
	if r.bare {
		return nil, ""
	}
	out := map[string]any{"data": nil, "message": r.message + "\n"}
	if len(r.errors) > 0 {
		out["errors"] = r.errors
	}
	content, err := json.Marshal(out)
	if err != nil {
		return []byte(`{"data":null}`), "application/json;charset=UTF-8"
	}
	return content, "application/json;charset=UTF-8"
}
