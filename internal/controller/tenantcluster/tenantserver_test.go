// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"
)

// tenantServers answers as the API servers of many tenants do, at one address: a tenant is a
// prefix of the path. Hundreds of real ones do not fit into a machine.
type tenantServers struct {
	testing.TB
	server   *httptest.Server
	calls    *calls
	mapper   meta.RESTMapper
	upstream http.RoundTripper // what all tenants answer alike: which kinds there are

	mu     sync.Mutex
	all    map[string]*store
	static map[string]answer
	// down are tenants that do not answer.
	down map[string]bool
	// between, if set, decides on writes of the controller.
	between *gate
}

type answer struct {
	kind string
	body []byte
}

func newTenantServers(tb testing.TB, mapper meta.RESTMapper) *tenantServers {
	tb.Helper()
	upstream, err := rest.TransportFor(api)
	if err != nil {
		tb.Fatal(err)
	}
	t := &tenantServers{TB: tb, mapper: mapper, upstream: upstream, calls: &calls{}, all: map[string]*store{}, static: map[string]answer{}, down: map[string]bool{}}
	t.server = httptest.NewUnstartedServer(http.HandlerFunc(t.serve))
	t.server.EnableHTTP2 = true
	t.server.Config.ErrorLog = log.New(io.Discard, "", 0) // clients are killed
	t.server.StartTLS()
	tb.Cleanup(func() {
		t.server.CloseClientConnections()
		t.server.Close()
	})
	return t
}

// of is the store of a tenant.
func (t *tenantServers) of(tenant string) *store {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all[tenant] == nil {
		t.all[tenant] = newStore()
	}
	return t.all[tenant]
}

// kubeconfig is that of a tenant's administrator.
func (t *tenantServers) kubeconfig(tenant string) ([]byte, error) {
	k := clientcmdapi.NewConfig()
	k.Clusters["c"] = &clientcmdapi.Cluster{Server: t.server.URL + "/tenants/" + tenant, InsecureSkipTLSVerify: true}
	k.Contexts["x"] = &clientcmdapi.Context{Cluster: "c"}
	k.CurrentContext = "x"
	return clientcmd.Write(*k)
}

func (t *tenantServers) serve(w http.ResponseWriter, r *http.Request) {
	tenant, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/tenants/"), "/")
	path = "/" + path
	t.calls.add(r)
	t.mu.Lock()
	down := t.down[tenant] && r.UserAgent() != playerAgent
	t.mu.Unlock()
	p, isObject := placeOf(path)
	if t.between != nil && r.Method != http.MethodGet && r.UserAgent() != playerAgent {
		switch t.between.verdict("tenant " + r.Method + " " + p.collection) {
		case dieBefore:
			t.between.kill()
			panic(http.ErrAbortHandler)
		case dieAfter:
			defer t.between.kill()
		case live:
		}
	}
	switch {
	case down:
		panic(http.ErrAbortHandler)
	case path == "/readyz":
		fmt.Fprint(w, "ok")
	case !isObject:
		t.fixed(w, r, path)
	default:
		t.object(w, r, t.of(tenant), p)
	}
}

// fixed answers from what the management cluster's API server says.
func (t *tenantServers) fixed(w http.ResponseWriter, r *http.Request, path string) {
	key := path + " " + r.Header.Get("Accept")
	t.mu.Lock()
	known, has := t.static[key]
	t.mu.Unlock()
	if !has {
		request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, api.Host+path, http.NoBody)
		if err != nil {
			panic(err)
		}
		request.Header.Set("Accept", r.Header.Get("Accept"))
		response, err := t.upstream.RoundTrip(request)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		known = answer{response.Header.Get("Content-Type"), body}
		t.mu.Lock()
		t.static[key] = known
		t.mu.Unlock()
	}
	w.Header().Set("Content-Type", known.kind)
	_, _ = w.Write(known.body)
}

func (t *tenantServers) object(w http.ResponseWriter, r *http.Request, s *store, p place) {
	only := strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")
	view := func(o *unstructured.Unstructured) *unstructured.Unstructured {
		if only {
			return metadataOnly(o)
		}
		return o
	}
	switch query := r.URL.Query(); {
	case r.Method == http.MethodGet && query.Get("watch") != "":
		t.watch(w, r, s, p, view)
	case r.Method == http.MethodGet && p.name == "":
		t.list(w, r, s, p, only, view)
	case r.Method == http.MethodGet:
		reply(w, view, s.get(p), p)
	case r.Method == http.MethodDelete:
		reply(w, view, s.remove(p), p)
	default:
		t.write(w, r, s, p, view)
	}
}

func (t *tenantServers) list(w http.ResponseWriter, r *http.Request, s *store, p place, only bool, view func(*unstructured.Unstructured) *unstructured.Unstructured) {
	fits, err := filter(r.URL.Query().Get("labelSelector"), r.URL.Query().Get("fieldSelector"), "")
	if err != nil {
		refuse(w, http.StatusBadRequest, "BadRequest", err.Error())
		return
	}
	found, version := s.list(p, fits)
	items := []any{}
	for _, o := range found {
		items = append(items, view(o).Object)
	}
	kind := t.kindOf(p)
	list := map[string]any{"apiVersion": kind.GroupVersion().String(), "kind": kind.Kind + "List", "metadata": map[string]any{"resourceVersion": version}, "items": items}
	if only {
		list["apiVersion"], list["kind"] = "meta.k8s.io/v1", "PartialObjectMetadataList"
	}
	write(w, http.StatusOK, list)
}

func (t *tenantServers) kindOf(p place) schema.GroupVersionKind {
	parts := strings.Split(p.collection, "/")
	resource := schema.GroupVersionResource{Version: parts[0], Resource: parts[len(parts)-1]}
	if len(parts) == 3 {
		resource.Group, resource.Version = parts[0], parts[1]
	}
	kind, err := t.mapper.KindFor(resource)
	if err != nil {
		t.Errorf("which kind is %s: %v", p.collection, err)
	}
	return kind
}

// watch begins with what is there, if the client wants that, and a bookmark.
func (t *tenantServers) watch(w http.ResponseWriter, r *http.Request, s *store, p place, view func(*unstructured.Unstructured) *unstructured.Unstructured) {
	query := r.URL.Query()
	fits, err := filter(query.Get("labelSelector"), query.Get("fieldSelector"), p.name)
	if err != nil {
		refuse(w, http.StatusBadRequest, "BadRequest", err.Error())
		return
	}
	now, version, next, end := s.watch(p, fits)
	defer end()
	w.Header().Set("Content-Type", "application/json")
	send := func(kind string, o any) {
		_ = json.NewEncoder(w).Encode(map[string]any{"type": kind, "object": o})
	}
	if query.Get("sendInitialEvents") == "true" {
		for _, o := range now {
			send("ADDED", view(o).Object)
		}
		mark := &unstructured.Unstructured{Object: map[string]any{}}
		mark.SetGroupVersionKind(t.kindOf(p))
		mark.SetResourceVersion(version)
		mark.SetAnnotations(map[string]string{"k8s.io/initial-events-end": "true"})
		send("BOOKMARK", view(mark).Object)
	}
	w.(http.Flusher).Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case c := <-next:
			if fits(c.object) {
				send(c.kind, view(c.object).Object)
				w.(http.Flusher).Flush()
			}
		}
	}
}

// write creates, replaces or patches an object.
func (t *tenantServers) write(w http.ResponseWriter, r *http.Request, s *store, p place, view func(*unstructured.Unstructured) *unstructured.Unstructured) {
	data, _ := io.ReadAll(r.Body)
	o, err := t.decode(r.Header.Get("Content-Type"), data)
	if err != nil {
		refuse(w, http.StatusBadRequest, "BadRequest", err.Error())
		return
	}
	if r.Method == http.MethodPost {
		p.name = o.GetName()
		if s.get(p) != nil {
			refuse(w, http.StatusConflict, "AlreadyExists", p.key())
			return
		}
	}
	before := s.get(p)
	apply := strings.HasPrefix(r.Header.Get("Content-Type"), "application/apply-patch")
	if r.Method == http.MethodPatch && before == nil && !apply {
		reply(w, view, nil, p)
		return
	}
	if r.Method == http.MethodPatch && before != nil {
		o = &unstructured.Unstructured{Object: merged(before.DeepCopy().Object, o.Object)}
	}
	stringData, _, _ := unstructured.NestedMap(o.Object, "stringData")
	for key, value := range stringData {
		_ = unstructured.SetNestedField(o.Object, base64.StdEncoding.EncodeToString([]byte(value.(string))), "data", key)
	}
	unstructured.RemoveNestedField(o.Object, "stringData")
	reply(w, view, s.put(p, o), p)
}

func (t *tenantServers) decode(kind string, data []byte) (*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	if !strings.Contains(kind, "protobuf") {
		plain, err := yaml.YAMLToJSON(data)
		if err != nil {
			return nil, err
		}
		return o, utiljson.Unmarshal(plain, &o.Object)
	}
	typed, gvk, err := scheme.Codecs.UniversalDeserializer().Decode(data, nil, nil)
	if err != nil {
		return nil, err
	}
	o.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	o.SetGroupVersionKind(*gvk)
	return o, err
}

func reply(w http.ResponseWriter, view func(*unstructured.Unstructured) *unstructured.Unstructured, o *unstructured.Unstructured, p place) {
	if o == nil {
		refuse(w, http.StatusNotFound, "NotFound", p.collection+" "+p.key()+" not found")
		return
	}
	write(w, http.StatusOK, view(o).Object)
}

func refuse(w http.ResponseWriter, code int, reason, message string) {
	write(w, code, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": message, "code": code})
}

func write(w http.ResponseWriter, code int, o any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(o)
}
