// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"helm.sh/helm/v4/pkg/chart/common"
	"oras.land/oras-go/v2/content"

	"github.com/butlerdotdev/butler/internal/addon"
)

// fixture represents everything that can be reached: one server that has every
// name, with files and with registries.
type fixture struct {
	mu       sync.Mutex
	files    map[string][]byte // by address
	answers  map[string]http.HandlerFunc
	tags     map[string]map[string][]byte // manifests, by repository and tag
	blobs    map[string][]byte
	requests map[string]int
	client   *http.Client
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	w := &fixture{
		files: map[string][]byte{}, answers: map[string]http.HandlerFunc{}, requests: map[string]int{},
		tags: map[string]map[string][]byte{}, blobs: map[string][]byte{},
	}
	cert, roots := certificate(t, time.Now().Add(time.Hour))
	s := httptest.NewUnstartedServer(w)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	s.StartTLS()
	t.Cleanup(s.Close)
	w.client = clientTo(t, s.Listener.Addr().String(), roots)
	return w
}

// clientTo leads every name to one address.
func clientTo(t *testing.T, address string, roots *x509.CertPool) *http.Client {
	t.Helper()
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func certificate(t *testing.T, until time.Time) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: until.Add(-24 * time.Hour), NotAfter: until, IsCA: true, BasicConstraintsValid: true,
		DNSNames: []string{"helm.cilium.io", "charts.jetstack.io", "traefik.github.io", "ghcr.io", "github.com", "registry.example.com", "elsewhere.example.com"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
}

// vacant is an address at which no server listens.
func vacant(t *testing.T) string {
	t.Helper()
	l := listener(t)
	l.Close()
	return l.Addr().String()
}

// serving is an address with a certificate.
func serving(t *testing.T, cert tls.Certificate) string {
	t.Helper()
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// talking is an address at which the same words are said to everybody, or none.
func talking(t *testing.T, words string) string {
	t.Helper()
	l := listener(t)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
			_, _ = io.WriteString(c, words)
		}
	}()
	return l.Addr().String()
}

func listener(t *testing.T) net.Listener {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func (w *fixture) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	address := "https://" + r.Host + r.URL.Path
	w.mu.Lock()
	w.requests[address]++
	answer, data := w.answers[address], w.files[address]
	w.mu.Unlock()
	switch {
	case answer != nil:
		answer(rw, r)
	case data != nil:
		_, _ = rw.Write(data)
	case strings.HasPrefix(r.URL.Path, "/v2/"):
		w.registry(rw, r)
	default:
		http.NotFound(rw, r)
	}
}

// registry has what a pull needs of the distribution protocol. It wants a token,
// which everybody gets.
func (w *fixture) registry(rw http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v2/token" {
		_ = json.NewEncoder(rw).Encode(map[string]string{"token": "everybody"})
		return
	}
	if r.Header.Get("Authorization") != "Bearer everybody" {
		rw.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer realm=\"https://%s/v2/token\",service=%q", r.Host, r.Host))
		rw.WriteHeader(http.StatusUnauthorized)
		return
	}
	path := r.Host + strings.TrimPrefix(r.URL.Path, "/v2")
	if repository, ok := strings.CutSuffix(path, "/tags/list"); ok {
		w.list(rw, repository)
		return
	}
	if repository, tag, ok := strings.Cut(path, "/manifests/"); ok {
		w.hand(rw, w.tags[repository][tag], ocispec.MediaTypeImageManifest)
		return
	}
	_, sum, _ := strings.Cut(path, "/blobs/")
	w.hand(rw, w.blobs[sum], "application/octet-stream")
}

func (w *fixture) list(rw http.ResponseWriter, repository string) {
	var tags []string
	for t := range w.tags[repository] {
		tags = append(tags, t)
	}
	_ = json.NewEncoder(rw).Encode(map[string]any{"name": repository, "tags": tags})
}

func (w *fixture) hand(rw http.ResponseWriter, data []byte, mediaType string) {
	if data == nil {
		rw.WriteHeader(http.StatusNotFound)
		return
	}
	rw.Header().Set("Content-Type", mediaType)
	rw.Header().Set("Docker-Content-Digest", digest(data))
	_, _ = rw.Write(data)
}

// layer is one of an artifact that is pushed.
type layer struct{ mediaType, title, data string }

func (w *fixture) push(t *testing.T, repository, tag string, layers ...layer) {
	t.Helper()
	m := ocispec.Manifest{MediaType: ocispec.MediaTypeImageManifest, Config: ocispec.DescriptorEmptyJSON}
	m.SchemaVersion = 2
	for _, l := range layers {
		d := content.NewDescriptorFromBytes(l.mediaType, []byte(l.data))
		if l.title != "" {
			d.Annotations = map[string]string{ocispec.AnnotationTitle: l.title}
		}
		m.Layers = append(m.Layers, d)
		w.blobs[digest([]byte(l.data))] = []byte(l.data)
	}
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if w.tags[repository] == nil {
		w.tags[repository] = map[string][]byte{}
	}
	w.tags[repository][tag] = data
}

func (w *fixture) source(t *testing.T, charts string) *Source {
	t.Helper()
	s, err := New(Options{Charts: charts, HTTP: w.client})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// chartArchive is a small chart.
func chartArchive(t *testing.T, name, version string, more ...string) []byte {
	t.Helper()
	files := []*common.File{
		{Name: "Chart.yaml", Data: fmt.Appendf(nil, "apiVersion: v2\nname: %s\nversion: %s\n", name, version)},
		{Name: "templates/cm.yaml", Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n")},
	}
	for _, m := range more {
		files = append(files, &common.File{Name: m, Data: []byte("kind: " + m + "\n")})
	}
	data, err := packed(name, files)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func cilium() addon.Addon {
	return addon.Addon{
		Key: addon.Cilium, Version: "1.17.0",
		Source: addon.Source{Kind: addon.ChartRepository, URL: "https://helm.cilium.io/", Chart: "cilium"},
	}
}

func steward() addon.Addon {
	return addon.Addon{
		Key: addon.Steward, Version: "0.4.0",
		Source: addon.Source{Kind: addon.ChartOCI, URL: "oci://ghcr.io/butlerdotdev/charts/steward", Chart: "steward"},
	}
}

func gateway() addon.Addon {
	return addon.Addon{
		Key: addon.GatewayAPI, Version: "v1.2.1",
		Source: addon.Source{Kind: addon.Manifest, URL: "https://github.com/kubernetes-sigs/gateway-api/releases/download/%s/experimental-install.yaml"},
	}
}

func fetched(t *testing.T, s *Source, a addon.Addon, v Variables) Content {
	t.Helper()
	c, err := s.Fetch(t.Context(), a, v)
	if err != nil {
		t.Fatalf("fetch %s: %v", a.Key, err)
	}
	return c
}

func refusal(t *testing.T, s *Source, a addon.Addon, v Variables) error {
	t.Helper()
	c, err := s.Fetch(t.Context(), a, v)
	if err == nil {
		t.Fatalf("%s was fetched from %s", a.Key, c.Origin)
	}
	return err
}
