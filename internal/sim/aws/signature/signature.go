// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package signature checks signature version 4 of requests, as AWS does.
package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	algorithm  = "AWS4-HMAC-SHA256"
	dateFormat = "20060102T150405Z"
	// maxSkew is how far the clock of a caller may be off.
	maxSkew = 15 * time.Minute
)

// Signature is what the signature of a request says about itself.
type Signature struct {
	AccessKeyID, Date, Region, Service string
	// Token is the session token; empty: none.
	Token string
	// Time is when the caller signed.
	Time time.Time

	headers []string
	digest  string
}

// The errors of signatures.
var (
	ErrMissing   = errors.New("the request has no signature")
	ErrMalformed = errors.New("the signature is malformed")
	ErrExpired   = errors.New("the signature is too old, or from the future")
	ErrMismatch  = errors.New("the signature is not that of the request")
)

// Parse reads the signature of a request without checking it.
func Parse(r *http.Request) (Signature, error) {
	header := r.Header.Get("Authorization")
	if header == "" {
		return Signature{}, ErrMissing
	}
	rest, found := strings.CutPrefix(header, algorithm+" ")
	if !found {
		return Signature{}, ErrMalformed
	}
	parts := map[string]string{}
	for part := range strings.SplitSeq(rest, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		parts[key] = value
	}
	scope := strings.Split(parts["Credential"], "/")
	if len(scope) != 5 || scope[4] != "aws4_request" || parts["SignedHeaders"] == "" || parts["Signature"] == "" {
		return Signature{}, ErrMalformed
	}
	at, err := time.Parse(dateFormat, r.Header.Get("X-Amz-Date"))
	if err != nil {
		return Signature{}, ErrMalformed
	}
	return Signature{
		AccessKeyID: scope[0], Date: scope[1], Region: scope[2], Service: scope[3], Time: at,
		Token:   r.Header.Get("X-Amz-Security-Token"),
		headers: strings.Split(parts["SignedHeaders"], ";"), digest: parts["Signature"],
	}, nil
}

// Check compares the signature with the one of the request under this secret.
func (s Signature) Check(r *http.Request, body []byte, secret string, now time.Time) error {
	if s.Time.Format("20060102") != s.Date || !slices.Contains(s.headers, "host") {
		return ErrMismatch
	}
	if skew := now.Sub(s.Time).Abs(); skew > maxSkew {
		return ErrExpired
	}
	if claimed := r.Header.Get("X-Amz-Content-Sha256"); claimed != "" && claimed != hash(body) {
		return ErrMismatch
	}
	toSign := strings.Join([]string{algorithm, s.Time.Format(dateFormat), s.scope(), hash([]byte(canonical(r, body, s.headers)))}, "\n")
	want := hex.EncodeToString(sum(s.key(secret), toSign))
	if !hmac.Equal([]byte(want), []byte(s.digest)) {
		return ErrMismatch
	}
	return nil
}

func (s Signature) scope() string {
	return strings.Join([]string{s.Date, s.Region, s.Service, "aws4_request"}, "/")
}

func (s Signature) key(secret string) []byte {
	key := []byte("AWS4" + secret)
	for _, part := range []string{s.Date, s.Region, s.Service, "aws4_request"} {
		key = sum(key, part)
	}
	return key
}

func sum(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func hash(data []byte) string {
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}
