// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/proxmox"
	"github.com/butlerdotdev/butler/provider"
)

// with returns a change of the credentials; an empty value removes a key.
func (f *fixture) with(pairs ...string) func(*provider.Config) {
	data := maps.Clone(f.credentials)
	for i := 0; i < len(pairs); i += 2 {
		if data[pairs[i]] = []byte(pairs[i+1]); pairs[i+1] == "" {
			delete(data, pairs[i])
		}
	}
	return func(c *provider.Config) { c.Credentials = provider.NewCredentials(data) }
}

// user is the user of the token, with the password.
func (f *fixture) user(t *testing.T) (name, password string) {
	t.Helper()
	return account(t, f.API.(interface{ User() string }).User())
}

// root is a client that root has logged in with: the administrator's token may not skip locks.
func (f *fixture) root(t *testing.T) *client {
	t.Helper()
	name, password := account(t, f.API.Admin())
	c, err := newClient("log in", f.config(f.with("token", "", "tokenSecret", "", "username", name, "password", password)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.release)
	return c
}

func account(t *testing.T, file string) (name, password string) {
	t.Helper()
	var who struct{ User, Password string }
	raw, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(raw, &who)
	}
	if err != nil {
		t.Fatal(err)
	}
	return who.User, who.Password
}

// fingerprint is that of the certificate that the API shows.
func (f *fixture) fingerprint(t *testing.T) string {
	t.Helper()
	conn, err := f.Network.Dial(t.Context(), "tcp", "proxmox.example.com:8006")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	secured := tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // the certificate is only read
	if err := secured.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(secured.ConnectionState().PeerCertificates[0].Raw)
	return strings.ToUpper(hex.EncodeToString(sum[:]))
}

func endpoint(url string) func(*provider.Config) {
	return func(c *provider.Config) { c.Spec.Proxmox.Endpoint = url }
}

func unknownAuthority(c *provider.Config) { c.Transport.RootCAs = x509.NewCertPool() }

func insecure(c *provider.Config) { c.Spec.Proxmox.Insecure = true }

// TestConnectionsThatAreRefused has every wrong input of a login, and what is said about it.
func TestConnectionsThatAreRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t, sim.Seed{})
	name, password := f.user(t)
	noCA := f.with("caBundle", "", "endpoint", "")
	for what, c := range map[string]struct {
		change []func(*provider.Config)
		kind   provider.Kind
		reason string
	}{
		"wrong host":            {[]func(*provider.Config){noCA, endpoint("https://pve.example.com:8006")}, provider.Unavailable, provider.ReasonPlatformUnreachable},
		"wrong port":            {[]func(*provider.Config){noCA, endpoint("https://proxmox.example.com:8443")}, provider.Unavailable, provider.ReasonPlatformUnreachable},
		"without TLS":           {[]func(*provider.Config){endpoint("http://proxmox.example.com:8006")}, provider.Invalid, reasonEndpoint},
		"wrong path":            {[]func(*provider.Config){endpoint("https://proxmox.example.com:8006/ui")}, provider.Invalid, provider.ReasonEndpointForeign},
		"another server":        {[]func(*provider.Config){f.with("endpoint", "https://other.example.com:8006")}, provider.Invalid, provider.ReasonEndpointNotConfirmed},
		"untrusted certificate": {[]func(*provider.Config){noCA, unknownAuthority}, provider.Invalid, provider.ReasonCertificateRefused},
		"no certificate":        {[]func(*provider.Config){f.with("caBundle", "none")}, provider.Invalid, provider.ReasonCertificateRefused},
		"wrong fingerprint":     {[]func(*provider.Config){f.with("fingerprint", strings.Repeat("ab", 32))}, provider.Invalid, provider.ReasonCertificateRefused},
		"no fingerprint":        {[]func(*provider.Config){f.with("fingerprint", "AA:BB")}, provider.Invalid, provider.ReasonCertificateRefused},
		"wrong secret":          {[]func(*provider.Config){f.with("tokenSecret", "00000000-0000-0000-0000-000000000000")}, provider.Unauthorized, provider.ReasonCredentialsRefused},
		"unknown token":         {[]func(*provider.Config){f.with("token", "butler@pve!other")}, provider.Unauthorized, provider.ReasonCredentialsRefused},
		"wrong password":        {[]func(*provider.Config){f.with("token", "", "tokenSecret", "", "username", name, "password", password+"x")}, provider.Unauthorized, provider.ReasonCredentialsRefused},
		"unknown user":          {[]func(*provider.Config){f.with("token", "", "tokenSecret", "", "username", "absent@pve", "password", password)}, provider.Unauthorized, provider.ReasonCredentialsRefused},
		"unknown node":          {[]func(*provider.Config){func(c *provider.Config) { c.Spec.Proxmox.Nodes = []string{"pve9"} }}, provider.Invalid, provider.ReasonNotFound},
		"no settings":           {[]func(*provider.Config){func(c *provider.Config) { c.Spec.Proxmox = nil }}, provider.Invalid, provider.ReasonSettingsMissing},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel() // Proxmox VE answers wrong credentials after three seconds
			p, err := Provider().Open(t.Context(), f.config(c.change...))
			if err == nil {
				p.Close()
			}
			if provider.KindOf(err) != c.kind || provider.ReasonOf(err) != c.reason || err != nil && !strings.Contains(err.Error(), ";") {
				t.Errorf("%s %s (%v), want %s %s", provider.KindOf(err), provider.ReasonOf(err), err, c.kind, c.reason)
			}
		})
	}
}

// TestEveryKindOfLogin connects with each, and reports one platform.
func TestEveryKindOfLogin(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	name, password := f.user(t)
	want := f.connected(t).Identity
	for what, change := range map[string][]func(*provider.Config){
		"the other key of a token":      {f.with("token", "", "tokenId", string(f.credentials[v1alpha1.KeyToken]))},
		"user and password":             {f.with("token", "", "tokenSecret", "", "username", name, "password", password)},
		"fingerprint":                   {f.with("caBundle", "", "fingerprint", f.fingerprint(t)), unknownAuthority},
		"fingerprint with colons":       {f.with("caBundle", "", "fingerprint", colons(f.fingerprint(t))), unknownAuthority},
		"authority of the Secret":       {f.with("caBundle", string(f.ca)), unknownAuthority},
		"any certificate":               {f.with("caBundle", ""), unknownAuthority, insecure},
		"an endpoint without a port":    {endpoint("https://proxmox.example.com")},
		"an endpoint with a path":       {endpoint("https://proxmox.example.com:8006/api2/json/")},
		"an endpoint out of a browser":  {endpoint("https://proxmox.example.com:8006/#v1:0:18:4:::::::")},
		"nothing that confirms it":      {f.with("endpoint", "")},
		"one of the nodes is not there": {func(c *provider.Config) { c.Spec.Proxmox.Nodes = []string{"pve9", "pve1"} }},
	} {
		if got := f.connected(t, change...).Identity; got != want || got == "" {
			t.Errorf("%s: identity %q, want %q", what, got, want)
		}
	}
}

func colons(text string) string {
	var parts []string
	for i := 0; i < len(text); i += 2 {
		parts = append(parts, text[i:i+2])
	}
	return strings.Join(parts, ":")
}

// TestATicketThatHasExpiredIsRenewed calls for longer than a ticket is accepted.
func TestATicketThatHasExpiredIsRenewed(t *testing.T) {
	t.Parallel()
	const life = 2 * time.Second // tickets have whole seconds
	f := newFixture(t, sim.Seed{Tickets: life})
	name, password := f.user(t)
	p := f.connected(t, f.with("token", "", "tokenSecret", "", "username", name, "password", password))
	for began := time.Now(); time.Since(began) < 2*life; <-time.After(life / 4) {
		if _, err := p.Machines.Observe(t.Context(), provider.MachineRef{Name: "none", Owner: provider.Owner{ID: "o"}}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnOldVersionIsRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t, sim.Seed{Version: "6.4-15"})
	_, err := Provider().Open(t.Context(), f.config())
	if provider.KindOf(err) != provider.Invalid || !strings.Contains(err.Error(), "6.4-15") {
		t.Error(err)
	}
}
