// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/provider"
)

// Connection is a way to connect: credentials that work, with changes.
type Connection struct {
	// Keys are set in the credentials; an empty value removes a key.
	Keys   map[string]string
	Change func(*provider.Config) // nil: none
	// Kind and Reason are those of the refusal; an empty Kind means that it works until Ends,
	// or for good where Ends is zero.
	Kind   provider.Kind
	Reason string
	Ends   time.Time
}

// Connect opens each connection, lists with it, and checks that a refusal repeats no value
// of Keys but names: those whose key ends in ID or ARN.
func Connect(t *testing.T, p provider.Provider, sound provider.Config, credentials map[string][]byte, all map[string]Connection) {
	t.Helper()
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			config := sound
			config.ProviderConfig = sound.DeepCopy()
			config.Credentials = provider.NewCredentials(c.credentials(credentials))
			if c.Change != nil {
				c.Change(&config)
			}
			c.check(t, p, config)
		})
	}
}

func (c Connection) credentials(sound map[string][]byte) map[string][]byte {
	out := maps.Clone(sound)
	for key, value := range c.Keys {
		if out[key] = []byte(value); value == "" {
			delete(out, key)
		}
	}
	return out
}

func (c Connection) check(t *testing.T, p provider.Provider, config provider.Config) {
	t.Helper()
	opened, err := p.Open(t.Context(), config)
	if err == nil {
		defer opened.Close()
		_, err = opened.Machines.List(t.Context(), provider.Owner{ID: "x"})
	}
	if c.Kind == "" {
		if err != nil || !opened.Lifetime.Ends.Equal(c.Ends) || opened.Lifetime.Temporary != !c.Ends.IsZero() {
			t.Errorf("%v, lifetime %+v", err, opened.Lifetime)
		}
		return
	}
	if err == nil || provider.KindOf(err) != c.Kind || provider.ReasonOf(err) != c.Reason {
		t.Fatalf("%v is %s, want %s %s", err, provider.ReasonOf(err), c.Kind, c.Reason)
	}
	for key, value := range c.Keys {
		name := strings.HasSuffix(key, "ID") || strings.HasSuffix(key, "ARN")
		if len(value) > 20 && !name && strings.Contains(err.Error(), value) {
			t.Errorf("the error repeats a value: %v", err)
		}
	}
}

// Foreign returns how a host is dialled that is no platform: it answers every call with a
// web page. Other hosts are dialled as before.
func Foreign(t *testing.T, host string) func(*provider.Config) {
	t.Helper()
	wiki := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<html>a wiki</html>")) // the caller may be gone
	}))
	t.Cleanup(wiki.Close)
	return func(c *provider.Config) {
		before := c.Transport.DialContext
		c.Transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if strings.HasPrefix(address, host) {
				return (&net.Dialer{}).DialContext(ctx, network, wiki.Listener.Addr().String())
			}
			return before(ctx, network, address)
		}
	}
}

// JWT returns a token of another identity provider with these claims. Its signature is
// none.
func JWT(claims map[string]any) string {
	encode := base64.RawURLEncoding.EncodeToString
	content, _ := json.Marshal(claims) //nolint:errchkjson // texts and numbers
	return strings.Join([]string{encode([]byte(`{"alg":"RS256"}`)), encode(content), encode([]byte("signature"))}, ".")
}
