// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/luthermonson/go-proxmox"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// keyTokenID is another name of the key token.
const keyTokenID = "tokenId"

// identity is who the driver is on the platform.
type identity struct {
	// name is user@realm, or user@realm!token.
	name             string
	secret, password string
}

// identityOf returns the identity of the credentials: an API token before a password.
func identityOf(op string, c provider.Credentials) (identity, error) {
	text := func(keys ...string) string { return strings.TrimSpace(string(c.Get(keys...))) }
	token, user := text(v1alpha1.KeyToken, keyTokenID), text(v1alpha1.KeyUsername)
	refuse := func(err error, hint string) (identity, error) {
		return identity{}, provider.Unauthorized.New(op, provider.ReasonCredentialsIncomplete, err, hint)
	}
	switch {
	case token == "" && user == "":
		return refuse(errors.New(`the Secret has neither the key "token" nor "username"`), "set token and tokenSecret, or username and password")
	case token != "" && !tokenForm(token):
		return refuse(errors.New("the key token does not have the form user@realm!name"), "write the ID of the token into token, and its secret into tokenSecret")
	case token != "":
		secret, err := c.Require(op, v1alpha1.KeyTokenSecret, "it is what Proxmox VE shows once when a token is created")
		return identity{name: token, secret: strings.TrimSpace(string(secret))}, err
	case !strings.Contains(user, "@"):
		return refuse(errors.New("the key username has no realm"), "write it as user@pam or user@pve")
	}
	password, err := c.Require(op, v1alpha1.KeyPassword, "set the password of the user, or use an API token")
	return identity{name: user, password: string(password)}, err
}

func tokenForm(token string) bool {
	user, name, found := strings.Cut(token, "!")
	return found && name != "" && strings.Contains(user, "@") && !strings.Contains(token, "=")
}

// tokenAuth sends an API token with every request. Tokens need no CSRF header.
type tokenAuth struct {
	next http.RoundTripper
	identity
}

// RoundTrip implements http.RoundTripper.
func (a tokenAuth) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "PVEAPIToken="+a.name+"="+a.secret)
	return a.next.RoundTrip(r)
}

// ticketLife is how long a ticket is used: Proxmox VE accepts it for two hours.
const ticketLife = time.Hour

// ticketAuth logs in with a password and sends the ticket with every request, and the CSRF
// token with those that write.
type ticketAuth struct {
	next  http.RoundTripper
	login *proxmox.Client
	identity

	mu   sync.Mutex
	held ticket
}

type ticket struct {
	Ticket string `json:"ticket"`
	CSRF   string `json:"CSRFPreventionToken"`
	// NeedTFA is set if a second factor is asked for.
	NeedTFA any `json:"NeedTFA"`
	since   time.Time
}

// RoundTrip implements http.RoundTripper. A ticket that is not accepted any more is replaced
// once: the request was refused before it had an effect.
func (a *ticketAuth) RoundTrip(r *http.Request) (*http.Response, error) {
	t, err := a.current(r.Context(), ticket{})
	if err != nil {
		return nil, err
	}
	answer, err := a.send(r, t)
	if err != nil || answer.StatusCode != http.StatusUnauthorized || r.Body != nil && r.GetBody == nil {
		return answer, err
	}
	_ = answer.Body.Close()
	if t, err = a.current(r.Context(), t); err != nil {
		return nil, err
	}
	return a.send(r, t)
}

func (a *ticketAuth) send(r *http.Request, t ticket) (*http.Response, error) {
	again := r.Clone(r.Context())
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		again.Body = body
	}
	again.AddCookie(&http.Cookie{Name: "PVEAuthCookie", Value: t.Ticket})
	if r.Method != http.MethodGet {
		again.Header.Set("CSRFPreventionToken", t.CSRF)
	}
	return a.next.RoundTrip(again)
}

// errSecondFactor is the answer for a user who needs more than a password.
var errSecondFactor = errors.New("the user needs a second factor")

// current returns a ticket other than the refused one.
func (a *ticketAuth) current(ctx context.Context, refused ticket) (ticket, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.held.Ticket != "" && a.held.Ticket != refused.Ticket && time.Since(a.held.since) < ticketLife {
		return a.held, nil
	}
	fresh := ticket{since: time.Now()}
	if err := a.login.Post(ctx, "/access/ticket", map[string]string{"username": a.name, "password": a.password}, &fresh); err != nil {
		return ticket{}, err
	}
	if fresh.NeedTFA != nil || fresh.Ticket == "" {
		return ticket{}, errSecondFactor
	}
	a.held = fresh
	return fresh, nil
}
