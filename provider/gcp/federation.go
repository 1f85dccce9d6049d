// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"bytes"
	"cmp"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// privateKey reads the key of a service account.
func privateKey(text string) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("no PEM")
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if key, ok := parsed.(*rsa.PrivateKey); ok && err == nil {
		return key, nil
	}
	return nil, errors.New("no RSA key")
}

// assert exchanges a signed assertion of the service account for a token.
func (s *source) assert(ctx context.Context, key *rsa.PrivateKey) (token, error) {
	now := time.Now()
	assertion, err := signed(key, map[string]any{"alg": "RS256", "typ": "JWT", "kid": s.PrivateKeyID}, map[string]any{
		"iss": s.ClientEmail, "scope": scope, "aud": cmp.Or(s.TokenURI, tokenURI), "iat": now.Add(-10 * time.Second).Unix(), "exp": now.Add(50 * time.Minute).Unix(),
	})
	if err != nil {
		return token{}, err
	}
	return post(ctx, s.http, s.at(s.TokenURI, tokenURI), url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion},
	})
}

// signed returns a JSON web token.
func signed(key *rsa.PrivateKey, header, claims map[string]any) (string, error) {
	var parts []string
	for _, part := range []any{header, claims} {
		content, err := json.Marshal(part)
		if err != nil {
			return "", err
		}
		parts = append(parts, base64.RawURLEncoding.EncodeToString(content))
	}
	text := strings.Join(parts, ".")
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), err
}

// checkSubject refuses a federation whose subject token cannot be read: the key
// subjectToken of the Secret has it, or a file on the operator's machine. Programs are not
// run and URLs not called, as the document decides about them.
func (s *source) checkSubject() error {
	if s.subject != "" || s.files && s.Source.File != "" {
		return nil
	}
	return errors.New("the federation has no subject token: set the key subjectToken, as files of this machine, URLs and programs are not read for a Secret")
}

// federated exchanges the token of another identity provider for one of Google, and that
// for one of the service account, where one is named.
func (s *source) federated(ctx context.Context) (token, error) {
	subject, err := s.subjectToken()
	if err != nil {
		return token{}, err
	}
	exchanged, err := post(ctx, s.http, s.at(s.TokenURL, stsURL), url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}, "audience": {s.Audience}, "scope": {scope},
		"requested_token_type": {"urn:ietf:params:oauth:token-type:access_token"}, "subject_token": {subject}, "subject_token_type": {s.SubjectTokenType},
	})
	if err != nil || s.ImpersonationURL == "" {
		return exchanged, err
	}
	return s.impersonated(ctx, exchanged.value)
}

func (s *source) impersonated(ctx context.Context, by string) (token, error) {
	content, err := json.Marshal(map[string]any{"scope": []string{scope}, "lifetime": "3600s"})
	if err != nil {
		return token{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.at(s.ImpersonationURL, ""), bytes.NewReader(content))
	if err != nil {
		return token{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+by)
	return issue(s.http, r)
}

// subjectToken returns the token of the other identity provider.
func (s *source) subjectToken() (string, error) {
	if s.subject != "" {
		return s.subject, nil
	}
	return readSubject(s.document)
}

// readSubject reads the file that a document names, which is a token or has one in a field.
func readSubject(d document) (string, error) {
	content, err := os.ReadFile(d.Source.File)
	if err != nil || d.Source.Format.Type != "json" {
		return string(bytes.TrimSpace(content)), err
	}
	fields := map[string]any{}
	if err := json.Unmarshal(content, &fields); err != nil {
		return "", errors.New("the file with the subject token is not JSON")
	}
	subject, _ := fields[d.Source.Format.Field].(string)
	if subject == "" {
		return "", errors.New("the file with the subject token has no field " + d.Source.Format.Field)
	}
	return subject, nil
}
