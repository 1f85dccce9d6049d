// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fate is what a write means for the life of the controller.
type fate int

const (
	live fate = iota
	dieBefore
	dieAfter
)

var errDead = errors.New("this controller is dead")

// gate is between a controller and everything that it writes to. It kills it at writes that
// were chosen, once before and once after each kind of write of an operation: then not a byte
// of it gets out any more.
type gate struct {
	// kills decides whether to die at a point; nil is never.
	kills func(point string) bool
	// overload, if set, is what the API server answers instead.
	overload *overload

	mu        sync.Mutex
	operation string
	seen      map[string]int // points at which it died, or could have
	deaths    []string
	died      chan struct{} // closed at the death of this life
	conns     []net.Conn
	lost      bool
}

func newGate() *gate { return &gate{seen: map[string]int{}, died: make(chan struct{})} }

// next begins the next life.
func (g *gate) next() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.died, g.lost, g.conns = make(chan struct{}), false, nil
}

// begin names what the controller does from now on.
func (g *gate) begin(operation string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.operation = operation
}

// verdict decides on a write.
func (g *gate) verdict(write string) fate {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lost {
		return dieBefore
	}
	for name, is := range map[string]fate{"before": dieBefore, "after": dieAfter} {
		point := fmt.Sprintf("%s: %s %s", g.operation, name, write)
		g.seen[point]++
		if g.seen[point] == 1 && g.kills != nil && g.kills(point) {
			g.deaths = append(g.deaths, point)
			return is
		}
	}
	return live
}

// kill ends this life.
func (g *gate) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lost {
		return
	}
	g.lost = true
	close(g.died)
	for _, c := range g.conns {
		_ = c.Close()
	}
}

func (g *gate) dead() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lost
}

// dial opens connections that end with this life.
func (g *gate) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := dialOnlyServers(ctx, network, address)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lost {
		return nil, errors.Join(errDead, c.Close())
	}
	g.conns = append(g.conns, c)
	return c, nil
}

// before puts the gate before a transport.
func (g *gate) before(to http.RoundTripper) http.RoundTripper {
	return throughGate(func(r *http.Request) (*http.Response, error) {
		if g.dead() {
			return nil, errDead
		}
		if r.Method == http.MethodGet || !counts(r) {
			return g.overload.instead(r, to)
		}
		write, err := describe(r)
		if err != nil {
			return nil, err
		}
		switch g.verdict(write) {
		case dieBefore:
			g.kill()
			return nil, errDead
		case dieAfter:
			if response, err := to.RoundTrip(r); err == nil {
				_ = response.Body.Close()
			}
			g.kill()
			return nil, errDead
		case live:
		}
		return g.overload.instead(r, to)
	})
}

type throughGate func(*http.Request) (*http.Response, error)

func (f throughGate) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// counts reports whether a request changes anything that matters.
func counts(r *http.Request) bool {
	return !strings.Contains(r.URL.Path, "/events") && !strings.Contains(r.URL.Path, "selfsubjectreviews")
}

// describe names a write: its kind, and for a status the phase that it has.
func describe(r *http.Request) (string, error) {
	p, _ := placeOf(r.URL.Path)
	out := r.Method + " " + p.collection
	if p.part != "" {
		out += "/" + p.part
	}
	var content struct {
		Status struct {
			Phase      string             `json:"phase"`
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	if err := peek(r, &content); err != nil {
		return "", err
	}
	if content.Status.Phase != "" {
		out += " " + content.Status.Phase
	}
	return out, nil
}

// peek reads the body of a request, which stays as it is. One that is no JSON has no content.
func peek(r *http.Request, to any) error {
	if r.Body == nil {
		return nil
	}
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(data))
	_ = json.Unmarshal(data, to)
	return nil
}

// overload is an API server that is overloaded: slow, and with errors of all kinds.
type overload struct {
	mu     sync.Mutex
	random *rand.Rand
	// one of this many requests is answered with an error.
	one    int
	errors map[string]int
}

func newOverload(seed uint64, one int) *overload {
	return &overload{random: rand.New(rand.NewPCG(seed, 3)), one: one, errors: map[string]int{}}
}

func (t *overload) choose() (kind int, wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	wait = time.Duration(t.random.IntN(20)) * time.Millisecond
	if t.random.IntN(t.one) > 0 {
		return -1, wait
	}
	return t.random.IntN(4), wait
}

func (t *overload) count(kind string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.errors[kind]++
}

// instead answers a request, or lets it through and loses the answer.
func (t *overload) instead(r *http.Request, to http.RoundTripper) (*http.Response, error) {
	if t == nil || r.URL.Query().Has("watch") {
		return to.RoundTrip(r)
	}
	kind, wait := t.choose()
	select {
	case <-time.After(wait):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	switch {
	case kind < 0:
		return to.RoundTrip(r)
	case kind == 0:
		t.count("internal error")
		return status(r, http.StatusInternalServerError, metav1.StatusReasonInternalError), nil
	case kind == 1:
		t.count("store is gone")
		return status(r, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable), nil
	case kind == 2 && r.Method != http.MethodGet:
		t.count("conflict")
		return status(r, http.StatusConflict, metav1.StatusReasonConflict), nil
	}
	t.count("lost response")
	if response, err := to.RoundTrip(r); err == nil {
		_ = response.Body.Close()
	}
	return nil, errors.New("connection reset by peer")
}

// status is the answer of an API server to a request that it did not serve.
func status(r *http.Request, code int, reason metav1.StatusReason) *http.Response {
	data, _ := json.Marshal(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: "for the test"})
	return &http.Response{
		StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: int64(len(data)),
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(data)),
	}
}
