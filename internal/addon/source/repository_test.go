// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/internal/addon"
)

const (
	indexAt = "https://helm.cilium.io/index.yaml"
	chartAt = "https://helm.cilium.io/cilium-1.17.0.tgz"
)

// offer puts a chart into the repository of Cilium.
func (w *fixture) offer(archive []byte, sum string) {
	w.files[chartAt] = archive
	w.files[indexAt] = fmt.Appendf(nil, `
apiVersion: v1
entries:
  other: [{name: other, version: 9.9.9, urls: [other.tgz]}]
  cilium:
  - {name: cilium, version: 1.18.0-rc.1, urls: [cilium-1.18.0-rc.1.tgz]}
  - {name: cilium, version: 1.16.5, urls: [cilium-1.16.5.tgz]}
  - {name: cilium, version: 1.17.0, urls: [cilium-1.17.0.tgz], digest: %q}
  - {name: cilium, version: 1.17.1, urls: [cilium-1.17.1.tgz]}
  - {name: cilium, version: 1.9.0, urls: [cilium-1.9.0.tgz]}
`, sum)
}

func TestAChartComesFromItsRepository(t *testing.T) {
	w := newFixture(t)
	archive := chartArchive(t, "cilium", "1.17.0")
	w.offer(archive, strings.TrimPrefix(digest(archive), "sha256:"))
	s := w.source(t, "")
	for _, version := range []string{"1.17.0", "v1.17.0"} {
		a := cilium()
		a.Version, a.Source.Digest = version, digest(archive)
		c := fetched(t, s, a, nil)
		if c.Chart.Name() != "cilium" || c.Chart.Metadata.Version != "1.17.0" {
			t.Errorf("version %s is chart %s %s", version, c.Chart.Name(), c.Chart.Metadata.Version)
		}
		if c.Origin != chartAt || c.Digest != digest(archive) {
			t.Errorf("origin %s, digest %s", c.Origin, c.Digest)
		}
	}
	if w.requests[indexAt] != 1 || w.requests[chartAt] != 2 {
		t.Errorf("a retry does not need the index again: %v", w.requests)
	}
}

func TestAStandInHasAChecksumOfItsOwn(t *testing.T) {
	w := newFixture(t)
	archive := chartArchive(t, "cilium", "1.17.0")
	w.offer(archive, digest(archive))
	s, err := New(Options{HTTP: w.client, StandIns: true})
	if err != nil {
		t.Fatal(err)
	}
	a := cilium()
	a.Source.Digest = digest([]byte("published"))
	if c := fetched(t, s, a, nil); c.Digest != digest(archive) {
		t.Errorf("digest %s", c.Digest)
	}
}

func TestAnIndexIsAskedForAgainAfterAFailure(t *testing.T) {
	w := newFixture(t)
	s := w.source(t, Upstream)
	w.answers[indexAt] = status(http.StatusServiceUnavailable)
	refusal(t, s, cilium(), nil)
	delete(w.answers, indexAt)
	w.offer(chartArchive(t, "cilium", "1.17.0"), "")
	fetched(t, s, cilium(), nil)
}

func TestFilesAreLeftOutOfAChart(t *testing.T) {
	w := newFixture(t)
	w.files[chartAt] = chartArchive(t, "cilium", "1.17.0", "crds/own.yaml", "crds/foreign.yaml")
	w.offer(w.files[chartAt], "")
	a := cilium()
	a.Source.WithoutCRDs = []string{"crds/foreign.yaml"}
	c := fetched(t, w.source(t, ""), a, nil).Chart
	var names []string
	for _, f := range c.CRDObjects() {
		names = append(names, f.Name)
	}
	if !slices.Equal(names, []string{"crds/own.yaml"}) {
		t.Errorf("definitions are %v", names)
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "request id 4711", code) }
}

func moved(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
}

const redirectHint = "check the connection, or name a directory or a registry that has it with --charts"

func TestWhatARepositoryLacksOrBreaks(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil func(*testing.T, *fixture, *addon.Addon)
		want  string
	}{
		"busy": {
			func(_ *testing.T, w *fixture, _ *addon.Addon) {
				w.answers[indexAt] = status(http.StatusTooManyRequests)
			},
			"chart cilium 1.17.0 cannot be fetched from https://helm.cilium.io/: it answered 429 Too Many Requests; " + redirectHint,
		},
		"broken": {
			func(_ *testing.T, w *fixture, _ *addon.Addon) { w.answers[chartAt] = status(http.StatusBadGateway) },
			"chart cilium 1.17.0 cannot be fetched from https://helm.cilium.io/cilium-1.17.0.tgz: it answered 502 Bad Gateway; " + redirectHint,
		},
		"no index": {
			func(_ *testing.T, w *fixture, _ *addon.Addon) { w.files[indexAt] = []byte("<html>welcome</html>") },
			"chart cilium 1.17.0 cannot be fetched from https://helm.cilium.io/: its index.yaml is not an index of charts; " + redirectHint,
		},
		"no such version": {
			func(_ *testing.T, _ *fixture, a *addon.Addon) { a.Version = "1.17.99" },
			"chart cilium 1.17.99 is not at https://helm.cilium.io/: the nearest that it has: 1.17.1, 1.17.0, 1.16.5; set one of them in spec.addons, or name a directory or a registry that has it with --charts",
		},
		"file is gone": {
			func(_ *testing.T, w *fixture, _ *addon.Addon) { delete(w.files, chartAt) },
			"chart cilium 1.17.0 is not at https://helm.cilium.io/cilium-1.17.0.tgz: set another version, or name a directory or a registry that has it with --charts",
		},
		"changed": {
			func(t *testing.T, w *fixture, _ *addon.Addon) {
				w.files[chartAt] = chartArchive(t, "cilium", "1.17.0", "evil")
			},
			"it was changed or cut on its way; it is not installed",
		},
		"changed together with the index": {
			func(t *testing.T, _ *fixture, a *addon.Addon) {
				a.Source.Digest = digest(chartArchive(t, "cilium", "1.17.0", "published"))
			},
			"; find out why it has changed; --charts with a directory or registry of yours takes another archive",
		},
		"another chart": {
			func(t *testing.T, w *fixture, _ *addon.Addon) { w.offer(chartArchive(t, "calico", "1.17.0"), "") },
			"chart cilium 1.17.0 is required, but https://helm.cilium.io/cilium-1.17.0.tgz has chart calico 1.17.0: it is not installed",
		},
		"another version": {
			func(t *testing.T, w *fixture, _ *addon.Addon) { w.offer(chartArchive(t, "cilium", "1.16.0"), "") },
			"chart cilium 1.17.0 is required, but https://helm.cilium.io/cilium-1.17.0.tgz has chart cilium 1.16.0: it is not installed",
		},
		"no chart": {
			func(_ *testing.T, w *fixture, _ *addon.Addon) { w.offer([]byte("<html>"), "") },
			"chart cilium 1.17.0 from https://helm.cilium.io/cilium-1.17.0.tgz is not a chart: ",
		},
		"without TLS": {
			func(_ *testing.T, w *fixture, _ *addon.Addon) {
				w.answers[chartAt] = moved("http://helm.cilium.io/x.tgz")
			},
			"it redirects to an address without TLS",
		},
		"in a circle": {
			func(_ *testing.T, w *fixture, _ *addon.Addon) { w.answers[chartAt] = moved(chartAt) },
			"it redirects without end",
		},
		"repository without TLS": {
			func(_ *testing.T, _ *fixture, a *addon.Addon) { a.Source.URL = "http://helm.cilium.io/" },
			"an address that begins with http:// has no TLS",
		},
		"with a token in a redirect": {
			func(_ *testing.T, w *fixture, _ *addon.Addon) {
				w.answers[chartAt] = moved("https://elsewhere.example.com/x.tgz?token=secret")
				w.answers["https://elsewhere.example.com/x.tgz"] = status(http.StatusForbidden)
			},
			"cannot be fetched from https://helm.cilium.io/cilium-1.17.0.tgz: it answered 403 Forbidden; " + redirectHint,
		},
		"cut off": {
			func(_ *testing.T, w *fixture, _ *addon.Addon) {
				w.answers[chartAt] = func(rw http.ResponseWriter, _ *http.Request) {
					rw.Header().Set("Content-Length", "1000")
					_, _ = rw.Write([]byte("half"))
				}
			},
			"the connection ended early",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, a := newFixture(t), cilium()
			archive := chartArchive(t, "cilium", "1.17.0")
			w.offer(archive, digest(archive))
			tt.spoil(t, w, &a)
			err := refusal(t, w.source(t, ""), a, nil)
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is\n%v\nwithout\n%s", err, tt.want)
			}
			if strings.Contains(err.Error(), "4711") || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "127.0.0.1") {
				t.Errorf("error has what changes or what is secret: %v", err)
			}
		})
	}
}

func TestAPlaceThatCannotBeReachedSaysWhySteadily(t *testing.T) {
	old, roots := certificate(t, time.Now().Add(-time.Hour))
	for name, tt := range map[string]struct {
		client func(*testing.T) *http.Client
		want   string
	}{
		"refused": {
			func(t *testing.T) *http.Client { return clientTo(t, vacant(t), roots) },
			"connect: connection refused",
		},
		"unknown authority": {
			func(t *testing.T) *http.Client {
				c := newFixture(t).client
				transport, _ := c.Transport.(*http.Transport)
				transport.TLSClientConfig.RootCAs = roots
				return c
			},
			"its certificate is signed by an unknown authority",
		},
		"expired": {
			func(t *testing.T) *http.Client { return clientTo(t, serving(t, old), roots) },
			"its certificate has expired, or is not valid yet",
		},
		"no TLS": {
			func(t *testing.T) *http.Client { return clientTo(t, talking(t, "HTTP/1.1 200 OK\r\n\r\n"), roots) },
			"it does not speak TLS",
		},
		"no answer": {
			func(t *testing.T) *http.Client {
				c := clientTo(t, talking(t, ""), roots)
				c.Timeout = 50 * time.Millisecond
				return c
			},
			"it does not answer in time",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := New(Options{HTTP: tt.client(t)})
			if err != nil {
				t.Fatal(err)
			}
			want := "chart cilium 1.17.0 cannot be fetched from https://helm.cilium.io/: " + tt.want + "; " + redirectHint
			for range 2 {
				var u *Unavailable
				if err := refusal(t, s, cilium(), nil); !errors.As(err, &u) || u.Addon != addon.Cilium || err.Error() != want {
					t.Errorf("error is\n%v, not\n%s", err, want)
				}
			}
		})
	}
}

func TestAnUnknownNameSaysSo(t *testing.T) {
	err := steady(&net.OpError{Op: "dial", Err: &net.DNSError{Name: "helm.cilium.io", Server: "10.0.0.2:53", Err: "no such host", IsNotFound: true}})
	if err.Error() != "the name helm.cilium.io cannot be resolved" {
		t.Error(err)
	}
}

func TestCancelledWorkReportsNoPlaceAsDown(t *testing.T) {
	w := newFixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.source(t, "").Fetch(ctx, cilium(), nil)
	var u *Unavailable
	if errors.As(err, &u) || err == nil {
		t.Errorf("error is %v", err)
	}
}

func TestWhatIsTooLargeIsNotTaken(t *testing.T) {
	if _, err := limited(strings.NewReader("12345"), 4); err == nil {
		t.Error("five bytes were taken where four are the limit")
	}
	if data, err := limited(strings.NewReader("1234"), 4); err != nil || len(data) != 4 {
		t.Errorf("%q, %v", data, err)
	}
}

func TestNearestVersions(t *testing.T) {
	versions := []string{"2.0.0", "v1.2.0", "v1.2.3", "1.3.0-rc.1", "nonsense", "v1.1.9", "v0.1.0"}
	for wanted, want := range map[string]string{
		"1.2.9":      "v1.2.3 v1.2.0 v1.1.9",
		"1.3.0-rc.2": "1.3.0-rc.1 v1.2.3 v1.2.0",
		"9.0.0":      "2.0.0 v1.2.3 v1.2.0",
		"0.1.1":      "v1.2.3 v1.2.0 v0.1.0",
		"latest":     "2.0.0 v1.2.3 v1.2.0",
	} {
		if got := strings.Join(nearest(versions, wanted), " "); got != want {
			t.Errorf("for %s: %s, not %s", wanted, got, want)
		}
	}
}
