// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/addon/source"
)

func connected(t *testing.T, host string) *connection {
	t.Helper()
	c, err := connect(t.Context(), &rest.Config{Host: host}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return c
}

func serviceAt(namespace, name string, port int32, path string) *admissionv1.ServiceReference {
	return &admissionv1.ServiceReference{Namespace: namespace, Name: name, Port: &port, Path: &path}
}

// TestNewDialerTakesOverAtOnce has the first way to the cluster lead nowhere.
func TestNewDialerTakesOverAtOnce(t *testing.T) {
	l := newLab(t)
	l.kubelet(start)
	a := l.stocked("tea", "1.0.0")
	way := l.config
	lost := rest.CopyConfig(way)
	lost.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no route to host") }
	l.config = lost
	l.awaitMessage(v1alpha1.AddonFailing, "no route to host", a)
	l.config = rest.CopyConfig(way)
	l.awaitReady(a)
}

// TestReadyAddonStaysReadyWhileItCannotBeAsked has the API server away for a while.
func TestReadyAddonStaysReadyWhileItCannotBeAsked(t *testing.T) {
	l := newLab(t)
	l.kubelet(start)
	a := l.stocked("tea", "1.0.0")
	g := &gatekeeper{}
	l.config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		g.next = next
		return g
	})
	l.awaitReady(a)
	g.away.Store(true)
	l.clusters[l.namespace].workers[a.Key].nudge()
	l.await("it was asked for", []addon.Addon{a}, func(s []State) bool {
		if s[0].Phase != v1alpha1.AddonReady {
			t.Fatalf("it is reported as %+v", s[0])
		}
		return g.refused.Load() > 2
	})
	g.away.Store(false)
	if err := l.client.AppsV1().Deployments(l.namespace).Delete(t.Context(), "tea", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	l.awaitMessage(v1alpha1.AddonWaiting, "is not there any more", a)
}

// gatekeeper refuses all requests but watches while it is away.
type gatekeeper struct {
	next    http.RoundTripper
	away    atomic.Bool
	refused atomic.Int32
}

func (g *gatekeeper) RoundTrip(r *http.Request) (*http.Response, error) {
	if g.away.Load() && r.URL.Query().Get("watch") == "" {
		g.refused.Add(1)
		return nil, errors.New("connection refused")
	}
	return g.next.RoundTrip(r)
}

func (g *gatekeeper) WrappedRoundTripper() http.RoundTripper { return g.next }

func TestConnectionIsKeptWhileItPointsToTheSameServerAndUser(t *testing.T) {
	base := &rest.Config{Host: "https://10.0.0.1:6443", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("ca"), ServerName: "cluster"}}
	c := &connection{identity: identity(base)}
	dialled := rest.CopyConfig(base)
	dialled.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, nil }
	if !c.sameServer(dialled) {
		t.Error("another dialer makes another connection")
	}
	for what, change := range map[string]func(*rest.Config){
		"host":        func(c *rest.Config) { c.Host = "https://10.0.0.2:6443" },
		"token":       func(c *rest.Config) { c.BearerToken = "t" },
		"CA":          func(c *rest.Config) { c.CAData = []byte("other") },
		"key":         func(c *rest.Config) { c.KeyData = []byte("key") },
		"server name": func(c *rest.Config) { c.ServerName = "other" },
	} {
		other := rest.CopyConfig(base)
		change(other)
		if c.sameServer(other) {
			t.Errorf("another %s is taken for the same", what)
		}
	}
}

// TestRequestsEndWithTheContextTheyAreTiedTo has a server that never answers.
func TestRequestsEndWithTheContextTheyAreTiedTo(t *testing.T) {
	asked := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	client := &http.Client{Transport: tied{ctx, http.DefaultTransport}}
	go func() {
		<-asked
		cancel()
	}()
	own, end := context.WithTimeout(context.Background(), time.Minute)
	defer end()
	request, err := http.NewRequestWithContext(own, http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err == nil {
		_ = response.Body.Close()
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the request ended with %v", err)
	}
}

// TestAttemptThatIsCutOffIsNoFailure has other credentials for the cluster arrive
// while an addon is fetched.
func TestAttemptThatIsCutOffIsNoFailure(t *testing.T) {
	l := newLab(t)
	said := &bytes.Buffer{}
	l.Installer = newInstaller(Options{Log: slog.New(slog.NewTextHandler(said, nil))}, l.shelf)
	t.Cleanup(l.Close)
	l.kubelet(start)
	a := l.stocked("tea", "1.0.0")
	content, fetching, moved := l.contents[a.Key+" "+a.Version], make(chan struct{}, 9), make(chan struct{})
	l.put(a.Key, a.Version, func() source.Content {
		fetching <- struct{}{}
		<-moved
		return content()
	})
	l.Advance(l.target(), []addon.Addon{a})
	select {
	case <-fetching:
	case <-time.After(time.Minute):
		t.Fatal("it is not fetched")
	}
	l.config = rest.CopyConfig(l.config)
	l.config.Impersonate = rest.ImpersonationConfig{UserName: "other", Groups: []string{"system:masters"}}
	l.Advance(l.target(), []addon.Addon{a})
	close(moved)
	l.awaitReady(a)
	l.Close()
	if strings.Contains(said.String(), "failing") {
		t.Error(said.String())
	}
}

// counted is a context that knows how many others end with it.
type counted struct {
	context.Context
	children atomic.Int32
}

func (*counted) Done() <-chan struct{} { return make(chan struct{}) }

func (c *counted) AfterFunc(func()) func() bool {
	c.children.Add(1)
	return func() bool { c.children.Add(-1); return true }
}

func TestRequestsThatHaveEndedLeaveNothing(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	long := &counted{Context: t.Context()}
	for _, query := range []string{"", "?watch=true"} {
		request, err := http.NewRequestWithContext(long, http.MethodGet, server.URL+query, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := tied{t.Context(), http.DefaultTransport}.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		if long.children.Load() == 0 {
			t.Error("the request does not end with its context")
		}
		if err := response.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if n := long.children.Load(); n != 0 {
			t.Errorf("%q leaves %d behind", query, n)
		}
	}
}

// TestOneWorkerOfAnAddonAtATime switches an addon off and on again while a fetch
// of it does not end.
func TestOneWorkerOfAnAddonAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slow{end: make(chan struct{})}
		i := newInstaller(Options{}, store)
		config := &rest.Config{Host: "http://cluster.example.com", WrapTransport: func(next http.RoundTripper) http.RoundTripper { return empty{next} }}
		to := Target{ID: "dev", Config: config}
		tea := addon.Addon{Key: "tea", Version: "1", Source: addon.Source{Kind: addon.ChartRepository}}
		for _, addons := range [][]addon.Addon{{tea}, nil, {tea}} {
			i.Advance(to, addons)
			synctest.Wait()
			if n := store.inside.Load(); n != 1 {
				t.Errorf("%d are at work", n)
			}
		}
		close(store.end)
		synctest.Wait()
		i.Close()
		if n := store.inside.Load(); n < 2 {
			t.Error("the second one never began")
		}
	})
}

// slow fetches until its end is requested.
type slow struct {
	inside atomic.Int32
	end    chan struct{}
}

func (s *slow) Fetch(context.Context, addon.Addon, source.Variables) (source.Content, error) {
	s.inside.Add(1)
	<-s.end
	return source.Content{}, errors.New("it is slow")
}

// empty is an API server that has nothing.
type empty struct{ next http.RoundTripper }

func (e empty) WrappedRoundTripper() http.RoundTripper { return e.next }

func (empty) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}
