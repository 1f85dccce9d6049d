// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"slices"
	"time"
)

// The users: that of the manifest, and the administrator.
const (
	userName  = "butler"
	adminName = "admin"
)

// principal is a user who can log in.
type principal struct {
	Name, UUID  string
	Password    string
	APIKey      string
	Admin       bool
	Permissions []string
}

func (p principal) may(permission string) bool {
	return p.Admin || slices.Contains(p.Permissions, "*") || slices.Contains(p.Permissions, permission)
}

// session is what a cookie represents. It ends with the process, as after an upgrade.
type session struct {
	user string
	ends time.Time
}

const (
	sessionCookie = "NTNX_IGW_SESSION"
	sessionLife   = 15 * time.Minute
	keyHeader     = "X-Ntnx-Api-Key"
)

func randomHex(bytes int) string {
	raw := make([]byte, bytes)
	_, _ = rand.Read(raw) // never fails
	return hex.EncodeToString(raw)
}

// authenticate returns the user of a call: of its session, its key, or its password.
func (c *call) authenticate(r *http.Request) (principal, error) {
	if cookie, err := r.Cookie(sessionCookie); err == nil {
		s, known := c.sessions[cookie.Value]
		if !known || time.Now().After(s.ends) {
			return principal{}, wrongCredentials()
		}
		return *c.st.principals.ByID[s.user], nil
	}
	if key := r.Header.Get(keyHeader); key != "" {
		for _, one := range c.st.principals.All() {
			if one.APIKey == key {
				return *one, nil
			}
		}
		return principal{}, wrongCredentials()
	}
	name, password, given := r.BasicAuth()
	if !given {
		return principal{}, unauthenticated()
	}
	one := c.st.principals.ByID[name]
	if one == nil || one.Password != password {
		return principal{}, wrongCredentials()
	}
	return *one, nil
}

// beginSession begins a session of the user of a call, unless it has one.
func (c *call) beginSession(w http.ResponseWriter, r *http.Request) {
	if _, err := r.Cookie(sessionCookie); err == nil || r.Header.Get(keyHeader) != "" {
		return
	}
	life := sessionLife
	if c.seed.SessionLimit.Duration > 0 {
		life = c.seed.SessionLimit.Duration
	}
	id, ends := c.sessionOf(c.who.Name, life)
	http.SetCookie(w, &http.Cookie{Name: sessionCookie, Value: id, Path: "/", Expires: ends, Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

// sessionOf returns a session of the user that lasts for half of a life at least.
func (c *call) sessionOf(user string, life time.Duration) (id string, ends time.Time) {
	for id, s := range c.sessions {
		switch left := time.Until(s.ends); {
		case left <= 0:
			delete(c.sessions, id)
		case s.user == user && left > life/2:
			return id, s.ends
		}
	}
	id, ends = randomHex(32), time.Now().Add(life)
	c.sessions[id] = session{user: user, ends: ends}
	return id, ends
}

// allow refuses a call whose user lacks a permission.
func (c *call) allow(permission string) error {
	if permission == "" || c.who.may(permission) {
		return nil
	}
	return accessDenied(permission)
}
