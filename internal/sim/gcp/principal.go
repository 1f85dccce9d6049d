// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// principal is a service account, or with a Pool the holders of tokens of an identity
// provider.
type principal struct {
	Email       string
	Key         []byte // private, in PEM; empty: it has none
	KeyID       string
	Admin       bool // may do everything
	Permissions []string
	Pool        string
}

// may reports whether a principal has a permission; * is all.
func (p principal) may(permission string) bool {
	return p.Admin || slices.Contains(p.Permissions, permission) || slices.Contains(p.Permissions, "*")
}

// session is an access token that was given out.
type session struct {
	Email string
	Ends  time.Time
}

// newKey returns a private key in PEM.
func newKey() ([]byte, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}), nil
}

func (p principal) privateKey() *rsa.PrivateKey {
	block, _ := pem.Decode(p.Key)
	if block == nil {
		return nil
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil
	}
	rsaKey, _ := key.(*rsa.PrivateKey)
	return rsaKey
}

// keyFile is the file that the console hands out for a key of a service account.
func (g *GCP) keyFile(p *principal, tokenURI string, more map[string]string) []byte {
	fields := map[string]string{
		"type": "service_account", "project_id": g.seed.Project, "private_key_id": p.KeyID, "private_key": string(p.Key), "client_email": p.Email,
		"client_id": numericID(p.Email), "auth_uri": "https://accounts.google.com/o/oauth2/auth", "token_uri": tokenURI, "universe_domain": "googleapis.com",
	}
	maps.Copy(fields, more)
	raw, err := json.MarshalIndent(fields, "", "  ")
	if err != nil {
		return nil
	}
	return append(raw, '\n')
}

func randomHex(bytes int) string {
	raw := make([]byte, bytes)
	_, _ = rand.Read(raw) // never fails
	return hex.EncodeToString(raw)
}

// newID is the number of a new resource.
func newID() string { return numericID(randomHex(16)) }

// unauthenticated refuses a call without valid credentials.
func unauthenticated(reason, message string) error {
	return refusal{
		status: http.StatusUnauthorized, reason: "authError", message: message, rpc: "UNAUTHENTICATED", header: "Authorization",
		details: []any{map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com", "metadata": map[string]any{"service": "compute.googleapis.com"}}},
	}
}

func noCredentials() error {
	return unauthenticated("CREDENTIALS_MISSING", "Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.")
}

func invalidCredentials(reason string) error {
	return unauthenticated(reason, "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.")
}

// authenticate returns the caller: the holder of an access token, or the signer of one that
// was signed with the key of a service account.
func (c *call) authenticate(r *http.Request) (principal, error) {
	token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !found || token == "" {
		return principal{}, noCredentials()
	}
	if strings.Count(token, ".") == 2 && !strings.HasPrefix(token, "ya29.") {
		return c.signer(token)
	}
	s := c.st.sessions.ByID[digest(token)]
	switch {
	case s == nil:
		return principal{}, invalidCredentials("ACCESS_TOKEN_TYPE_UNSUPPORTED")
	case !c.now.Before(s.Ends):
		return principal{}, invalidCredentials("ACCESS_TOKEN_EXPIRED")
	}
	p := c.st.principals.ByID[s.Email]
	if p == nil {
		return principal{}, invalidCredentials("ACCOUNT_STATE_INVALID")
	}
	return *p, nil
}

// signer accepts a token that a service account has signed itself, for the API or for a
// scope.
func (c *call) signer(token string) (principal, error) {
	claims, p, err := c.verify(token)
	if err != nil {
		return principal{}, invalidCredentials("ACCESS_TOKEN_TYPE_UNSUPPORTED")
	}
	forAPI := strings.HasPrefix(claims.Audience, "https://compute.googleapis.com") || strings.HasPrefix(claims.Audience, "https://cloudresourcemanager.googleapis.com") ||
		slices.Contains(c.seed.Hosts, hostOf(claims.Audience)) || hostOf(claims.Audience) == c.Address()
	if !forAPI && claims.Scope == "" || claims.Subject != "" && claims.Subject != claims.Issuer {
		return principal{}, invalidCredentials("ACCESS_TOKEN_TYPE_UNSUPPORTED")
	}
	if !c.now.Before(time.Unix(claims.Expires, 0)) {
		return principal{}, invalidCredentials("ACCESS_TOKEN_EXPIRED")
	}
	return p, nil
}

// allow refuses a caller without a permission.
func (c *call) allow(permission, path string) error {
	if c.who.may(permission) {
		return nil
	}
	on := "projects/" + c.seed.Project
	if path != "" {
		on = c.full(path)
	}
	return c.forbidden(permission, on)
}

func (c *call) forbidden(permission, on string) error {
	return refusal{status: http.StatusForbidden, reason: "forbidden", message: "Required '" + permission + "' permission for '" + on + "'"}
}

// allowCreate checks the permissions to create a resource of most kinds, with its labels.
func (c *call) allowCreate(k kind, path string) error {
	verb := ".create"
	if k.collection == "addresses" && c.body.str("addressType") == "INTERNAL" {
		verb = ".createInternal"
	}
	if err := c.allow("compute."+k.noun+verb, path); err != nil {
		return err
	}
	if len(c.body.labels()) > 0 {
		return c.allow("compute."+k.noun+".setLabels", path)
	}
	return nil
}

func (c *call) allowDelete(k kind) error {
	path := c.path(k.collection, c.params[resourceParam(c.method.Name)])
	verb := ".delete"
	if r := c.st.get(path); k.collection == "addresses" && r != nil && r.Object.str("addressType") == "INTERNAL" {
		verb = ".deleteInternal"
	}
	return c.allow("compute."+k.noun+verb, path)
}
