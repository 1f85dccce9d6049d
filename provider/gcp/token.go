// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// early is how long before its end a token is replaced.
	early = 2 * time.Minute
	// mostAnswer bounds the answer of a token endpoint.
	mostAnswer = 1 << 20
)

// token is an access token.
type token struct {
	value string
	ends  time.Time
}

// tokens keeps an access token until shortly before its end.
type tokens struct {
	fetch func(context.Context) (token, error)
	lock  chan struct{}
	held  token
}

func newTokens(fetch func(context.Context) (token, error)) *tokens {
	return &tokens{fetch: fetch, lock: make(chan struct{}, 1)}
}

// get returns a token that is still accepted. Calls at the same time fetch one.
func (t *tokens) get(ctx context.Context) (string, error) {
	select {
	case t.lock <- struct{}{}:
		defer func() { <-t.lock }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if t.held.value != "" && time.Until(t.held.ends) > early {
		return t.held.value, nil
	}
	fetched, err := t.fetch(ctx)
	if err != nil {
		return "", err
	}
	t.held = fetched
	return fetched.value, nil
}

// forget drops a token that the platform does not accept any more.
func (t *tokens) forget(value string) {
	t.lock <- struct{}{}
	defer func() { <-t.lock }()
	if t.held.value == value {
		t.held = token{}
	}
}

// authorized sends requests with an access token.
type authorized struct {
	http.RoundTripper
	tokens *tokens
	*contexts
}

// RoundTrip implements http.RoundTripper.
func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := a.of(r)
	value, err := a.tokens.get(ctx)
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	r = r.Clone(ctx)
	r.Header.Del(headerCall)
	r.Header.Set("Authorization", "Bearer "+value)
	answer, err := a.RoundTripper.RoundTrip(r)
	if err == nil && answer.StatusCode == http.StatusUnauthorized {
		a.tokens.forget(value)
	}
	return answer, err
}

// tokenError is the refusal of a token endpoint.
type tokenError struct {
	status             int
	host, code, reason string
}

// Error returns what the endpoint said.
func (e *tokenError) Error() string {
	return strings.TrimRight(fmt.Sprintf("%s answered %d %s: %s", e.host, e.status, e.code, e.reason), ": .")
}

// issued is the answer of a token endpoint: that of OAuth, or that of IAM.
type issued struct {
	AccessToken string          `json:"access_token"`
	ExpiresIn   int64           `json:"expires_in"`
	Other       string          `json:"accessToken"`
	ExpireTime  time.Time       `json:"expireTime"`
	Error       json.RawMessage `json:"error"`
	Description string          `json:"error_description"`
}

// post sends a form to a token endpoint.
func post(ctx context.Context, h *http.Client, to string, form url.Values) (token, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(form.Encode()))
	if err != nil {
		return token{}, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return issue(h, r)
}

// issue sends a request to a token endpoint and reads the token.
func issue(h *http.Client, r *http.Request) (token, error) {
	answer, err := h.Do(r)
	if err != nil {
		return token{}, err
	}
	defer func() { _ = answer.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
	if err != nil {
		return token{}, err
	}
	var said issued
	unread := json.Unmarshal(content, &said)
	switch {
	case answer.StatusCode >= http.StatusBadRequest:
		return token{}, refusal(answer.StatusCode, r.URL.Host, said)
	case unread != nil || said.AccessToken+said.Other == "":
		return token{}, errForeign
	case said.Other != "":
		return token{said.Other, said.ExpireTime}, nil
	}
	return token{said.AccessToken, time.Now().Add(time.Duration(said.ExpiresIn) * time.Second)}, nil
}

// refusal reads an error of OAuth, a word with a description, or of another service.
func refusal(status int, host string, said issued) error {
	e := &tokenError{status: status, host: host, reason: said.Description}
	var other struct{ Status, Message string }
	if json.Unmarshal(said.Error, &e.code) != nil && json.Unmarshal(said.Error, &other) == nil {
		e.code, e.reason = other.Status, other.Message
	}
	return e
}
