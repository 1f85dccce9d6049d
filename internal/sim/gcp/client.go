// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"
)

// Client returns a client that calls the simulated API with the key of a file that the
// simulator has written, and the URL of the API. It is for the operator of a test.
func Client(keyFile string) (*http.Client, string, error) {
	raw, err := os.ReadFile(keyFile)
	if err != nil {
		return nil, "", err
	}
	var key struct {
		Email string `json:"client_email"`
		ID    string `json:"private_key_id"`
		Key   string `json:"private_key"`
		URI   string `json:"token_uri"`
		CA    string `json:"ca_bundle"`
	}
	if err := json.Unmarshal(raw, &key); err != nil {
		return nil, "", err
	}
	ca, err := os.ReadFile(key.CA)
	if err != nil {
		return nil, "", err
	}
	at, err := url.Parse(key.URI)
	if err != nil {
		return nil, "", err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	p := principal{Email: key.Email, KeyID: key.ID, Key: []byte(key.Key)}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	return &http.Client{Transport: signing{p, transport}}, "https://" + at.Host, nil
}

// Listed is an object that List has found.
type Listed struct {
	Name, Status, Description, SelfLink string
	Labels                              map[string]string
}

// List returns all objects of a collection of the project, such as instances, as the holder
// of the key in a file sees them.
func List(ctx context.Context, keyFile, collection string) (all []Listed, err error) {
	c, endpoint, err := Client(keyFile)
	if err != nil {
		return nil, err
	}
	defer c.CloseIdleConnections()
	var key struct {
		Project string `json:"project_id"`
	}
	raw, err := os.ReadFile(keyFile)
	if err == nil {
		err = json.Unmarshal(raw, &key)
	}
	address := endpoint + "/compute/v1/projects/" + key.Project + "/aggregated/" + collection
	for token := ""; err == nil; {
		var part []Listed
		if part, token, err = listPage(ctx, c, address+"?pageToken="+token, collection); token == "" {
			return append(all, part...), err
		}
		all = append(all, part...)
	}
	return nil, err
}

func listPage(ctx context.Context, c *http.Client, address, collection string) (all []Listed, next string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, "", err
	}
	answer, err := c.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, "", fmt.Errorf("list %s: %s", collection, answer.Status)
	}
	var body struct {
		Items         map[string]map[string]json.RawMessage `json:"items"`
		NextPageToken string                                `json:"nextPageToken"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
		return nil, "", err
	}
	for _, place := range body.Items {
		var some []Listed
		if raw, there := place[collection]; there {
			err = errors.Join(err, json.Unmarshal(raw, &some))
		}
		all = append(all, some...)
	}
	return all, body.NextPageToken, err
}

// signing signs each request with the key of a service account.
type signing struct {
	principal
	next *http.Transport
}

// CloseIdleConnections ends connections that nothing uses.
func (s signing) CloseIdleConnections() { s.next.CloseIdleConnections() }

// RoundTrip implements http.RoundTripper.
func (s signing) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := s.sign(claims{Issuer: s.Email, Subject: s.Email, Scope: cloudScope, Issued: time.Now().Unix(), Expires: time.Now().Add(time.Hour).Unix()})
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return s.next.RoundTrip(r)
}

const cloudScope = "https://www.googleapis.com/auth/cloud-platform"

// sign signs what a service account says.
func (p principal) sign(c claims) (string, error) {
	key := p.privateKey()
	if key == nil {
		return "", errors.New("the service account has no key")
	}
	header, headerErr := json.Marshal(map[string]string{"alg": "RS256", "typ": "JWT", "kid": p.KeyID})
	payload, payloadErr := json.Marshal(c)
	encode := base64.RawURLEncoding.EncodeToString
	text := encode(header) + "." + encode(payload)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	return text + "." + encode(signature), errors.Join(headerErr, payloadErr, err)
}
