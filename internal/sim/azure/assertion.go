// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"cmp"
	"crypto/sha1" //nolint:gosec // thumbprints of certificates are SHA-1
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Federation is a federated identity credential: tokens of another issuer that are
// accepted in the place of a secret.
type Federation struct {
	Issuer   string `json:"issuer"`
	Subject  string `json:"subject"`
	Audience string `json:"audience,omitempty"` // default api://AzureADTokenExchange
	// PublicKey verifies the tokens, as PEM; empty: their signature is not checked.
	PublicKey string `json:"publicKey,omitempty"`
}

const exchangeAudience = "api://AzureADTokenExchange"

// checkAssertion accepts an assertion that the application has signed with the key of its
// certificate, or the token of an issuer that it is federated with.
func (a *Azure) checkAssertion(p *actor, text, here string) *loginError {
	var got jwt.RegisteredClaims
	token, _, err := jwt.NewParser().ParseUnverified(text, &got)
	if err != nil {
		return assertionError(50027, "JWT token is invalid or malformed.")
	}
	now := time.Now()
	if got.ExpiresAt == nil || !now.Before(got.ExpiresAt.Time) || got.NotBefore != nil && now.Add(5*time.Minute).Before(got.NotBefore.Time) {
		return assertionError(700024, "Client assertion is not within its valid time range. Current time: %s.", now.UTC().Format(time.RFC3339))
	}
	if strings.EqualFold(got.Issuer, p.ClientID) {
		return a.checkSigned(p, token, text, got, here)
	}
	return checkFederated(p, text, got)
}

func assertionError(code int, format string, args ...any) *loginError {
	return &loginError{status: http.StatusUnauthorized, kind: "invalid_client", code: code, text: fmt.Sprintf(format, args...)}
}

// checkSigned verifies an assertion of the application itself.
func (a *Azure) checkSigned(p *actor, token *jwt.Token, text string, got jwt.RegisteredClaims, here string) *loginError {
	block, _ := pem.Decode([]byte(p.Certificate))
	if block == nil {
		return assertionError(700027, "The certificate with identifier used to sign the client assertion is not registered on application. [Reason - The key was not found.]")
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return assertionError(700027, "The registered certificate cannot be read: %v.", err)
	}
	if !slices.Contains(thumbprints(certificate), thumbprint(token)) {
		return assertionError(700027, "The certificate with identifier used to sign the client assertion is not registered on application. [Reason - The key was not found., Thumbprint of key used by client: '%s'.]", thumbprint(token))
	}
	_, err = jwt.NewParser(jwt.WithValidMethods([]string{"RS256", "PS256"})).Parse(text, func(*jwt.Token) (any, error) { return certificate.PublicKey, nil })
	if err != nil {
		return assertionError(700027, "Client assertion failed signature validation. [Reason - The key was used to sign the assertion, but its signature is not valid.]")
	}
	if !slices.ContainsFunc(got.Audience, func(s string) bool { return a.isOwnAudience(s, here) }) || !strings.EqualFold(got.Subject, p.ClientID) {
		return assertionError(700023, "Client assertion audience claim does not match Realm issuer. Review the documentation at https://learn.microsoft.com/entra/identity-platform/certificate-credentials.")
	}
	return nil
}

// isOwnAudience reports whether an audience is the token endpoint, or the authority.
func (a *Azure) isOwnAudience(audience, here string) bool {
	for _, base := range []string{here, "https://login.microsoftonline.com"} {
		for _, tenant := range []string{a.seed.Tenant, "common", "organizations"} {
			for _, path := range []string{"/oauth2/v2.0/token", "/oauth2/token", "/v2.0", ""} {
				if strings.EqualFold(audience, base+"/"+tenant+path) {
					return true
				}
			}
		}
	}
	return false
}

func thumbprints(c *x509.Certificate) []string {
	older, newer := sha1.Sum(c.Raw), sha256.Sum256(c.Raw) //nolint:gosec // as above
	return []string{base64.RawURLEncoding.EncodeToString(older[:]), base64.RawURLEncoding.EncodeToString(newer[:])}
}

// thumbprint is that of the certificate that an assertion names.
func thumbprint(token *jwt.Token) string {
	for _, name := range []string{"x5t#S256", "x5t"} {
		if text, ok := token.Header[name].(string); ok {
			return strings.NewReplacer("+", "-", "/", "_", "=", "").Replace(text)
		}
	}
	return ""
}

// checkFederated compares a token of another issuer with the credentials of the
// application.
func checkFederated(p *actor, text string, got jwt.RegisteredClaims) *loginError {
	for _, f := range p.Federated {
		audience := f.Audience
		audience = cmp.Or(audience, exchangeAudience)
		if f.Issuer != got.Issuer || f.Subject != got.Subject || !slices.Contains(got.Audience, audience) {
			continue
		}
		if f.PublicKey == "" {
			return nil
		}
		key, err := jwt.ParseRSAPublicKeyFromPEM([]byte(f.PublicKey))
		if err == nil {
			_, err = jwt.NewParser(jwt.WithValidMethods([]string{"RS256"})).Parse(text, func(*jwt.Token) (any, error) { return key, nil })
		}
		if err != nil {
			return assertionError(7002381, "Client assertion failed signature validation.")
		}
		return nil
	}
	return &loginError{status: http.StatusUnauthorized, kind: "invalid_client", code: 700213, text: fmt.Sprintf("No matching federated identity record found for presented assertion subject '%s'. Check your federated identity credential Subject, Audience and Issuer against the presented assertion.", got.Subject)}
}
