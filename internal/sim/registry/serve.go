// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// refusal is an answer without content.
type refusal struct {
	status int
	code   string // in the words of a registry
	reason string
}

func (r *refusal) Error() string { return r.reason }

// serve answers for all hosts.
func (r *Registry) serve(w http.ResponseWriter, q *http.Request) {
	content, i, err := r.answer(q)
	if err != nil {
		r.refuse(w, q, err)
		return
	}
	w.Header().Set("Content-Type", i.mediaType)
	if ofRegistry(q) {
		w.Header().Set("Docker-Content-Digest", cmp.Or(i.digest, "sha256:"+sum(content)))
	}
	http.ServeContent(w, q, "", time.Time{}, bytes.NewReader(content))
}

func (r *Registry) answer(q *http.Request) ([]byte, *item, error) {
	if q.Method != http.MethodGet && q.Method != http.MethodHead {
		return nil, nil, &refusal{http.StatusMethodNotAllowed, "UNSUPPORTED", "this registry is only read from"}
	}
	i, err := r.shelf.find(hostOf(q), q.URL.Path)
	if err != nil {
		return nil, nil, err
	}
	if i == nil {
		return nil, nil, &refusal{http.StatusNotFound, "NAME_UNKNOWN", "the rehearsal has no stand-in for this address"}
	}
	if i.image {
		if err := r.refuseImage(q, i); err != nil {
			return nil, nil, err
		}
		content, err := i.content()
		return content, i, err
	}
	for _, addon := range i.addons {
		if r.options.Faults.ArtifactUnavailable(addon) {
			return nil, nil, &refusal{
				http.StatusServiceUnavailable, "UNAVAILABLE", fmt.Sprintf("the fault plan makes what the addon %s consists of unavailable", addon),
			}
		}
	}
	content, err := i.content()
	return content, i, err
}

// refuse says no in the words of the server that is asked: a registry, or a web server.
func (r *Registry) refuse(w http.ResponseWriter, q *http.Request, err error) {
	no := &refusal{http.StatusInternalServerError, "UNKNOWN", err.Error()}
	_ = errors.As(err, &no)
	r.options.Log.Warn("a request for charts and manifests was refused",
		"method", q.Method, "url", "https://"+hostOf(q)+q.URL.Path, "status", no.status, "reason", no.reason)
	if !ofRegistry(q) {
		http.Error(w, no.reason, no.status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(no.status)
	_ = json.NewEncoder(w).Encode(map[string]any{"errors": []any{map[string]any{"code": no.code, "message": no.reason}}})
}

// ofRegistry reports whether a request is for an OCI registry.
func ofRegistry(q *http.Request) bool { return strings.HasPrefix(q.URL.Path, "/v2/") }

func hostOf(q *http.Request) string {
	if host, _, err := net.SplitHostPort(q.Host); err == nil {
		return host
	}
	return q.Host
}
