// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	helmregistry "helm.sh/helm/v4/pkg/registry"
	"helm.sh/helm/v4/pkg/repo/v1"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/internal/sim/front"
	"github.com/butlerdotdev/butler/internal/sim/network"
	"github.com/butlerdotdev/butler/internal/sim/registry"
)

var api *plane.Plane // set by TestMain alone

func TestMain(m *testing.M) {
	os.Exit(planetest.Run(m, plane.Options{Args: []string{"--allow-privileged"}}, func(p *plane.Plane) { api = p }))
}

// fixture is a network with a registry on it, and a client that trusts it.
type fixture struct {
	*http.Client

	registry *registry.Registry
	network  *network.Network
	log      *journal
}

// journal is a log that can be read while it is written.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func start(t *testing.T, o registry.Options) *fixture {
	t.Helper()
	w := &fixture{network: network.New(), log: &journal{}}
	if o.Authority == nil {
		o.Authority = authority(t, t.TempDir())
	}
	o.Network, o.Log = w.network, slog.New(slog.NewTextHandler(w.log, nil))
	r, err := registry.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	w.registry = r
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(o.Authority.Certificate())
	transport := &http.Transport{DialContext: w.network.Dial, TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	w.Client = &http.Client{Transport: transport}
	return w
}

func authority(t *testing.T, dir string) *front.Authority {
	t.Helper()
	a, err := front.OpenAuthority(dir)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func injector(t *testing.T, faults string) *fault.Injector {
	t.Helper()
	p, err := fault.Parse([]byte("faults: [" + faults + "]"))
	if err != nil {
		t.Fatal(err)
	}
	return fault.NewInjector(p)
}

// get is the status and the body of an answer.
func (w *fixture) get(t *testing.T, address string) (int, []byte) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := w.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, body
}

// fetch is get for what must be there.
func (w *fixture) fetch(t *testing.T, address string) []byte {
	t.Helper()
	status, body := w.get(t, address)
	if status != http.StatusOK {
		t.Fatalf("%s: %d: %s", address, status, body)
	}
	return body
}

// pull is a chart as Helm pulls it, and the digest that the far side names.
func (w *fixture) pull(t *testing.T, a addon.Addon) (*chart.Chart, string) {
	t.Helper()
	if a.Source.Kind == addon.ChartOCI {
		return w.pullOCI(t, a)
	}
	var index repo.IndexFile
	base := strings.TrimSuffix(a.Source.URL, "/") + "/"
	if err := yaml.UnmarshalStrict(w.fetch(t, base+"index.yaml"), &index); err != nil {
		t.Fatal(err)
	}
	entry, err := index.Get(a.Source.Chart, a.Version)
	if err != nil {
		t.Fatal(err)
	}
	root, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	at, err := root.Parse(entry.URLs[0])
	if err != nil {
		t.Fatal(err)
	}
	archive := w.fetch(t, at.String())
	if got := fmt.Sprintf("%x", sha256.Sum256(archive)); got != entry.Digest {
		t.Errorf("%s: the index says %s, and it is %s", a.Key, entry.Digest, got)
	}
	return load(t, archive), entry.Digest
}

func (w *fixture) pullOCI(t *testing.T, a addon.Addon) (*chart.Chart, string) {
	t.Helper()
	c, err := helmregistry.NewClient(helmregistry.ClientOptHTTPClient(w.Client), helmregistry.ClientOptWriter(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	result, err := c.Pull(strings.TrimPrefix(a.Source.URL, "oci://") + ":" + a.Version)
	if err != nil {
		t.Fatal(err)
	}
	return load(t, result.Chart.Data), result.Manifest.Digest
}

func load(t *testing.T, archive []byte) *chart.Chart {
	t.Helper()
	c, err := loader.LoadArchive(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	return c
}
