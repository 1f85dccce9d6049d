// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestServersAreVerifiedWithTheGivenAuthoritiesOnly(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	theirs := x509.NewCertPool()
	theirs.AddCert(s.Certificate())
	for reason, c := range map[string]struct {
		roots *x509.CertPool
		trust Trust
		want  bool
	}{
		"nothing is trusted":          {x509.NewCertPool(), Trust{}, false},
		"the system's authorities":    {nil, Trust{}, false},
		"roots of the transport":      {theirs, Trust{}, true},
		"a bundle beside the system":  {nil, Trust{CABundle: bundle}, true},
		"a bundle beside other roots": {x509.NewCertPool(), Trust{CABundle: bundle}, true},
		"any certificate":             {x509.NewCertPool(), Trust{Insecure: true}, true},
	} {
		transport := Transport{RootCAs: c.roots, Agent: "butler-test"}
		config, err := transport.TLS(c.trust)
		if err != nil {
			t.Fatalf("%s: %v", reason, err)
		}
		answer, err := transport.HTTPClient(config).Get(s.URL)
		if err == nil {
			answer.Body.Close()
		}
		if (err == nil) != c.want {
			t.Errorf("%s: %v", reason, err)
		}
	}
	if _, err := (Transport{}).TLS(Trust{CABundle: []byte("none")}); err == nil {
		t.Error("a bundle without a certificate was accepted")
	}
}

func TestABundleDoesNotChangeTheRootsOfTheTransport(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	roots := x509.NewCertPool()
	transport := Transport{RootCAs: roots}
	if _, err := transport.TLS(Trust{CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})}); err != nil {
		t.Fatal(err)
	}
	if !roots.Equal(x509.NewCertPool()) {
		t.Error("the bundle of one ProviderConfig is trusted by the others")
	}
}

func TestTheClientKeepsRetryAfterFromTheSDKAndNamesTheAgent(t *testing.T) {
	var agent string
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agent = r.UserAgent()
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer s.Close()
	transport := Transport{Agent: "butler-test"}
	config, err := transport.TLS(Trust{Insecure: true})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := transport.HTTPClient(config).Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if after := answer.Header.Get("Retry-After"); after != "" || agent != "butler-test" {
		t.Errorf("Retry-After %q reaches the SDK, agent %q", after, agent)
	}
}
