// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// past has the API server answer with old states: its store keeps revisions for some
// minutes. It is a fault.Past.
type past struct {
	next  http.Handler      // to the API server, as the caller
	admin http.RoundTripper // as the administrator
	host  string
	log   *slog.Logger

	mu        sync.Mutex
	revisions map[time.Time]string
}

func newPast(admin *rest.Config, next http.Handler, log *slog.Logger) (*past, error) {
	transport, err := rest.TransportFor(admin)
	if err != nil {
		return nil, err
	}
	return &past{next: next, admin: transport, host: admin.Host, log: log, revisions: map[time.Time]string{}}, nil
}

// Note keeps the present revision of the store as that of a moment.
func (p *past) Note(moment time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.revisions[moment]; known {
		return
	}
	var list metav1.PartialObjectMetadataList
	if err := p.read("/api/v1/namespaces", url.Values{"limit": {"1"}}, &list); err != nil {
		p.log.Error("record store revision", "err", err)
		return
	}
	p.revisions[moment] = list.ResourceVersion
}

func (p *past) revision(moment time.Time) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.revisions[moment]
}

// Answer answers a list, or a request for one object, as of the moment.
func (p *past) Answer(w http.ResponseWriter, r *http.Request, moment time.Time) {
	info, revision := infoOf(r), p.revision(moment)
	switch {
	case revision == "" || !info.IsResourceRequest || info.Subresource != "" || r.URL.Query().Has("continue"):
		p.next.ServeHTTP(w, r)
	case info.Verb == "list":
		p.next.ServeHTTP(w, asOf(r, revision))
	default:
		p.answerOne(w, r, revision)
	}
}

// asOf is a list that asks for an old revision.
func asOf(r *http.Request, revision string) *http.Request {
	r = r.Clone(r.Context())
	query := r.URL.Query()
	query.Set("resourceVersion", revision)
	query.Set("resourceVersionMatch", string(metav1.ResourceVersionMatchExact))
	r.URL.RawQuery = query.Encode()
	return r
}

// answerOne finds one object in an old list, for a caller who may see it now.
func (p *past) answerOne(w http.ResponseWriter, r *http.Request, revision string) {
	now := httptest.NewRecorder()
	p.next.ServeHTTP(now, r)
	if now.Code != http.StatusOK && now.Code != http.StatusNotFound {
		relay(w, now)
		return
	}
	info := infoOf(r)
	var list struct{ Items []json.RawMessage }
	path := r.URL.Path[:len(r.URL.Path)-len("/"+info.Name)]
	err := p.read(path, url.Values{
		"fieldSelector": {"metadata.name=" + info.Name}, "resourceVersion": {revision}, "resourceVersionMatch": {string(metav1.ResourceVersionMatchExact)},
	}, &list)
	switch {
	case err != nil:
		refuse(w, r, http.StatusServiceUnavailable, err.Error())
	case len(list.Items) == 0:
		refuse(w, r, http.StatusNotFound, "")
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(list.Items[0]) // the caller may be gone
	}
}

func relay(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()) // the caller may be gone
}

// read asks the API server for a list.
func (p *past) read(path string, query url.Values, into any) error {
	request, err := http.NewRequest(http.MethodGet, p.host+path+"?"+query.Encode(), http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	response, err := p.admin.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("read %s: %s", path, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(into)
}
