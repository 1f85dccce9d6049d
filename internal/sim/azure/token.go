// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// tokenTime is how long a token is valid.
const tokenTime = time.Hour

// claims are what a token says.
type claims struct {
	jwt.RegisteredClaims

	AppID    string `json:"appid,omitempty"`
	ObjectID string `json:"oid,omitempty"`
	Tenant   string `json:"tid,omitempty"`
	Version  string `json:"ver,omitempty"`
}

// audiences are the names of the resource manager.
func (a *Azure) audiences() []string {
	return append([]string{"https://management.azure.com", "https://management.core.windows.net"}, a.ownURLs()...)
}

// issue returns a token of an actor for an audience.
func (a *Azure) issue(p *actor, audience string, now time.Time) (token string, expires time.Time, err error) {
	expires = now.Add(tokenTime)
	if limit := a.seed.TokenTime.Duration; limit > 0 {
		expires = now.Add(limit)
	}
	token, err = jwt.NewWithClaims(jwt.SigningMethodHS256, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: "https://sts.windows.net/" + a.seed.Tenant + "/", Subject: p.ObjectID, Audience: jwt.ClaimStrings{audience}, ID: newUUID(),
			IssuedAt: jwt.NewNumericDate(now), NotBefore: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(expires),
		},
		AppID: p.ClientID, ObjectID: p.ObjectID, Tenant: a.seed.Tenant, Version: "1.0",
	}).SignedString(a.key)
	return token, expires, err
}

func unauthenticated(code, format string, args ...any) refusal {
	return refuse(http.StatusUnauthorized, code, format, args...)
}

// authenticate returns who calls.
func (a *Azure) authenticate(c *call) (*actor, error) {
	header := c.http.Header.Get("Authorization")
	if header == "" {
		return nil, unauthenticated("AuthenticationFailed", "Authentication failed. The 'Authorization' header is missing.")
	}
	text, bearer := strings.CutPrefix(header, "Bearer ")
	if !bearer {
		return nil, unauthenticated("AuthenticationFailedInvalidHeader", "Authentication failed. The 'Authorization' header is provided in an invalid format.")
	}
	var got claims
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"HS256"}), jwt.WithoutClaimsValidation())
	if _, err := parser.ParseWithClaims(text, &got, func(*jwt.Token) (any, error) { return a.key, nil }); err != nil {
		return nil, unauthenticated("InvalidAuthenticationToken", "The access token is invalid.")
	}
	switch p := a.actorWith(got.AppID); {
	case p == nil || got.ExpiresAt == nil:
		return nil, unauthenticated("InvalidAuthenticationToken", "The access token is invalid.")
	case !c.now.Before(got.ExpiresAt.Time):
		return nil, expiredToken(got.ExpiresAt.Time, c.now)
	case got.Tenant != a.seed.Tenant:
		return nil, unauthenticated("InvalidAuthenticationTokenTenant", "The access token is from the wrong issuer. It must match the tenant '%s' associated with this subscription.", a.seed.Tenant)
	case !slices.ContainsFunc(got.Audience, func(s string) bool { return slices.Contains(a.audiences(), strings.TrimRight(s, "/")) }):
		return nil, unauthenticated("InvalidAuthenticationTokenAudience", "The access token has been obtained for wrong audience or resource '%s'. It should exactly match with one of the allowed audiences '%s'.",
			strings.Join(got.Audience, ","), strings.Join(a.audiences(), "','"))
	default:
		return p, nil
	}
}

func expiredToken(expires, now time.Time) refusal {
	const form = "1/2/2006 3:04:05 PM"
	return unauthenticated("ExpiredAuthenticationToken", "The access token expiry UTC time '%s' is earlier than current UTC time '%s'.", expires.UTC().Format(form), now.UTC().Format(form))
}
