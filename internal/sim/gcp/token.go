// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"cmp"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	jwtGrant      = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	exchangeGrant = "urn:ietf:params:oauth:grant-type:token-exchange"
	accessToken   = "urn:ietf:params:oauth:token-type:access_token"
	sessionTime   = time.Hour
)

// claims are those of a signed token, as far as they matter.
type claims struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"`
	Scope    string `json:"scope"`
	Audience string `json:"aud"`
	Issued   int64  `json:"iat"`
	Expires  int64  `json:"exp"`
}

var errToken = errors.New("no valid token")

// decode reads a token without checking its signature.
func decode(token string) (kid string, c claims, err error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", c, errToken
	}
	var header struct{ Alg, Kid string }
	for i, into := range []any{&header, &c} {
		raw, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil {
			return "", c, err
		}
		if err := json.Unmarshal(raw, into); err != nil {
			return "", c, err
		}
	}
	if header.Alg != "RS256" {
		return "", c, errToken
	}
	return header.Kid, c, nil
}

// verify returns what a token says, and the service account whose key has signed it.
func (c *call) verify(token string) (claims, principal, error) {
	kid, said, err := decode(token)
	if err != nil {
		return said, principal{}, err
	}
	p := c.st.principals.ByID[said.Issuer]
	if p == nil || p.privateKey() == nil || kid != "" && kid != p.KeyID {
		return said, principal{}, errAccount
	}
	last := strings.LastIndex(token, ".")
	signature, err := base64.RawURLEncoding.DecodeString(token[last+1:])
	if err != nil {
		return said, *p, err
	}
	sum := sha256.Sum256([]byte(token[:last]))
	return said, *p, rsa.VerifyPKCS1v15(&p.privateKey().PublicKey, crypto.SHA256, sum[:], signature)
}

var errAccount = errors.New("account not found")

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// grantRefused is the answer of a token endpoint.
func grantRefused(code, description string) error {
	return refusal{status: http.StatusBadRequest, reason: code, message: description, bare: true}
}

// newSession gives an access token out.
func (c *call) newSession(email string, lasts time.Duration) (token string, ends time.Time) {
	if limit := c.seed.SessionLimit.Duration; limit > 0 {
		lasts = min(lasts, limit)
	}
	token, ends = "ya29.c."+randomHex(60), c.now.Add(lasts)
	c.st.sessions.Put(digest(token), &session{Email: email, Ends: ends})
	return token, ends
}

// form is the parameters of a token request, which is a form or JSON.
func (c *call) form(r *http.Request) url.Values {
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		fields := map[string]any{}
		if json.Unmarshal(c.raw, &fields) != nil {
			return url.Values{}
		}
		out := url.Values{}
		for key, value := range fields {
			if text, ok := value.(string); ok {
				out.Set(key, text)
			}
		}
		return out
	}
	form, err := url.ParseQuery(string(c.raw))
	if err != nil {
		return url.Values{}
	}
	return form
}

// grantToken exchanges a token that a service account has signed for an access token.
func grantToken(c *call, r *http.Request) (any, error) {
	form := c.form(r)
	if form.Get("grant_type") != jwtGrant {
		return nil, grantRefused("unsupported_grant_type", "Invalid grant_type: "+form.Get("grant_type"))
	}
	said, p, err := c.verify(form.Get("assertion"))
	issued, expires := time.Unix(said.Issued, 0), time.Unix(said.Expires, 0)
	switch {
	case errors.Is(err, errAccount):
		return nil, grantRefused("invalid_grant", "Invalid grant: account not found")
	case err != nil:
		return nil, grantRefused("invalid_grant", "Invalid JWT Signature.")
	case !c.ownAudience(said.Audience):
		return nil, grantRefused("invalid_grant", "Invalid JWT: Failed audience check. The audience must be https://oauth2.googleapis.com/token")
	case expires.Sub(issued) > sessionTime, issued.After(c.now.Add(5 * time.Minute)), !c.now.Before(expires):
		return nil, grantRefused("invalid_grant", "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.")
	case said.Scope == "":
		return nil, grantRefused("invalid_scope", "Invalid OAuth scope or ID token audience provided.")
	}
	token, ends := c.newSession(p.Email, sessionTime)
	return map[string]any{"access_token": token, "expires_in": int(ends.Sub(c.now).Seconds()), "token_type": "Bearer"}, nil
}

// ownAudience reports whether a token is for the token endpoint, by one of its names.
func (c *call) ownAudience(audience string) bool {
	u, err := url.Parse(audience)
	if err != nil || !strings.HasSuffix(u.Path, "/token") {
		return false
	}
	hosts := []string{"oauth2.googleapis.com", "www.googleapis.com", "accounts.google.com", c.Address(), c.AdminAddress()}
	return slices.Contains(slices.Concat(hosts, c.seed.Plain, c.seed.Hosts), u.Host)
}

// exchangeToken exchanges the token of an identity provider for one of its pool.
func exchangeToken(c *call, r *http.Request) (any, error) {
	form := c.form(r)
	get := func(name string) string { // JSON has the names in camel case
		camel := strings.Split(name, "_")
		for i := 1; i < len(camel); i++ {
			camel[i] = strings.ToUpper(camel[i][:1]) + camel[i][1:]
		}
		return cmp.Or(form.Get(name), form.Get(strings.Join(camel, "")))
	}
	if get("grant_type") != exchangeGrant {
		return nil, grantRefused("unsupported_grant_type", "Invalid grant type.")
	}
	p := c.poolOf(get("audience"))
	if p == nil {
		return nil, grantRefused("invalid_target", "The target service indicated by the \"audience\" parameters is invalid. This might either be because the pool or provider is disabled or deleted or because it doesn't exist.")
	}
	_, said, err := decode(get("subject_token"))
	switch {
	case !slices.Contains([]string{"urn:ietf:params:oauth:token-type:jwt", "urn:ietf:params:oauth:token-type:id_token"}, get("subject_token_type")):
		return nil, grantRefused("invalid_request", "Invalid value for \"subject_token_type\".")
	case err != nil:
		return nil, grantRefused("invalid_grant", "Unable to parse the ID Token.")
	case said.Subject == "" || said.Issuer == "":
		return nil, grantRefused("invalid_grant", "The mapped attribute google.subject must be of type STRING.")
	case !c.now.Before(time.Unix(said.Expires, 0)):
		return nil, grantRefused("invalid_grant", "ID Token in "+said.Issuer+" is stale to sign-in.")
	case get("scope") == "":
		return nil, grantRefused("invalid_scope", "Scope(s) must be specified.")
	}
	token, ends := c.newSession(p.Email, sessionTime)
	return map[string]any{
		"access_token": token, "issued_token_type": accessToken, "token_type": "Bearer", "expires_in": int(ends.Sub(c.now).Seconds()),
	}, nil
}

func (c *call) poolOf(audience string) *principal {
	for _, p := range c.st.principals.All() {
		if p.Pool != "" && p.Pool == audience {
			return p
		}
	}
	return nil
}

// impersonate gives an access token of a service account out, to a caller that may.
func impersonate(c *call, email string) (any, error) {
	var body struct {
		Scope    []string `json:"scope"`
		Lifetime string   `json:"lifetime"`
	}
	if err := json.Unmarshal(c.raw, &body); err != nil {
		return nil, badPayload("", "Invalid JSON payload received.")
	}
	p := c.st.principals.ByID[email]
	if p == nil || !c.who.may("iam.serviceAccounts.getAccessToken") {
		return nil, denied("Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it may not exist).")
	}
	lasts := sessionTime
	if body.Lifetime != "" {
		var err error
		if lasts, err = time.ParseDuration(body.Lifetime); err != nil || lasts <= 0 || lasts > sessionTime {
			return nil, badPayload("lifetime", "The requested lifetime is not valid: it must be at most 3600s.")
		}
	}
	if len(body.Scope) == 0 {
		return nil, badPayload("scope", "At least one scope is required.")
	}
	token, ends := c.newSession(p.Email, lasts)
	return map[string]any{"accessToken": token, "expireTime": ends.UTC().Format(time.RFC3339)}, nil
}

func denied(message string) error {
	return refusal{
		status: http.StatusForbidden, reason: "forbidden", message: message, rpc: "PERMISSION_DENIED",
		details: []any{map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "IAM_PERMISSION_DENIED", "domain": "iam.googleapis.com"}},
	}
}
