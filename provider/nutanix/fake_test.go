// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// answers are those of a server by method and path, in their order; the last one is repeated.
type answers map[string][]string

// server answers with texts that begin with a status, and keeps what it was sent.
func server(t *testing.T, all answers) (*httptest.Server, *[]string) {
	t.Helper()
	var sent []string
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := r.Method + " " + strings.TrimPrefix(r.URL.Path, served)
		body, _ := io.ReadAll(r.Body)
		sent = append(sent, call+" "+string(body))
		next := all[call]
		if len(next) == 0 {
			http.Error(w, "no such path", http.StatusNotFound)
			return
		}
		if len(next) > 1 {
			all[call] = next[1:]
		}
		var code int
		text := next[0]
		if _, err := fmt.Sscan(text, &code); err != nil {
			t.Errorf("%s has no status: %v", text, err)
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, strings.TrimSpace(strings.TrimPrefix(text, fmt.Sprint(code))))
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that do not trust it
	s.StartTLS()
	t.Cleanup(s.Close)
	return s, &sent
}

// central lists the clusters that a connection needs.
const central = `200 {"metadata":{"total_matches":1},"entities":[{"metadata":{"uuid":"pc"},"status":{"name":"pc","resources":{"config":{"service_list":["PRISM_CENTRAL"],"build":{"version":"pc.2024.3"}}}}}]}`

// at is the configuration of a server, over the network of the operating system.
func at(t *testing.T, s *httptest.Server, change ...func(*provider.Config)) provider.Config {
	t.Helper()
	c := provider.Config{ProviderConfig: &v1alpha1.ProviderConfig{}}
	c.Name, c.Spec.Provider = "nutanix-prod", v1alpha1.ProviderNutanix
	var port int32
	if _, err := fmt.Sscanf(s.URL, "https://127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	c.Spec.Nutanix = &v1alpha1.NutanixSpec{Endpoint: s.URL, Port: port, ClusterUUID: "here", SubnetUUID: "net"}
	c.Credentials = provider.NewCredentials(map[string][]byte{
		v1alpha1.KeyUsername: []byte("butler"), v1alpha1.KeyPassword: []byte("a password"),
		v1alpha1.KeyCABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}),
	})
	for _, f := range change {
		f(&c)
	}
	return c
}

// api is that of a server.
func api(t *testing.T, s *httptest.Server) prism {
	t.Helper()
	p, err := newPrism("test", at(t, s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.http.CloseIdleConnections)
	return p
}

// decoded reads the body of a request that was sent.
func decoded(t *testing.T, sent, call string) (body map[string]any) {
	t.Helper()
	text, found := strings.CutPrefix(sent, call+" ")
	if !found {
		t.Fatalf("%s was sent, want %s", sent, call)
	}
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		t.Fatal(err)
	}
	return body
}
