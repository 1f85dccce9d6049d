// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// account is a user, or with a ! in its ID a token.
type account struct {
	ID     string
	Secret string
	// Separated tokens have the privileges that both they and their user are granted;
	// others have those of their user.
	Separated bool
	Expires   time.Time // zero: never
}

const root = "root@pam"

// ticketLife is how long a ticket is valid.
const ticketLife = 2 * time.Hour

// userOf is the user that a token belongs to.
func userOf(id string) string {
	user, _, _ := strings.Cut(id, "!")
	return user
}

// sign signs tickets and tokens against forged requests.
func (p *PVE) sign(text string) string {
	mac := hmac.New(sha256.New, []byte(p.st.accounts.ByID[root].Secret))
	_, _ = mac.Write([]byte(text)) // a hash takes everything
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func (p *PVE) ticket(user string, now time.Time) string {
	plain := fmt.Sprintf("PVE:%s:%08X", user, now.Unix())
	return plain + "::" + p.sign(plain)
}

func (p *PVE) csrfToken(user string, now time.Time) string {
	stamp := fmt.Sprintf("%08X", now.Unix())
	return stamp + ":" + p.sign(stamp+":"+user)
}

// fresh reports whether a time in hexadecimal digits is within the life of tickets.
func (p *PVE) fresh(stamp string, now time.Time) bool {
	seconds, err := strconv.ParseInt(stamp, 16, 64)
	age := now.Sub(time.Unix(seconds, 0))
	return err == nil && age > -5*time.Minute && age < p.seed.ticketLife()
}

// ticketUser returns the user of a ticket; empty: it is not valid.
func (p *PVE) ticketUser(ticket string, now time.Time) string {
	plain, signature, found := strings.Cut(ticket, "::")
	words := strings.Split(plain, ":")
	if !found || len(words) != 3 || words[0] != "PVE" || !same(signature, p.sign(plain)) || !p.fresh(words[2], now) {
		return ""
	}
	return words[1]
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// authValue reads a value of a cookie or an Authorization header.
func authValue(header, key string) string {
	for part := range strings.SplitSeq(header, ";") {
		part = strings.TrimSpace(part)
		for _, joint := range []string{"=", " "} {
			if value, found := strings.CutPrefix(part, key+joint); found {
				if plain, err := url.PathUnescape(value); err == nil {
					return plain
				}
				return value
			}
		}
	}
	return ""
}

// authenticate returns the caller. Uploads need no token against forged requests.
func (c *call) authenticate(r *http.Request) error {
	if c.route.public {
		return nil
	}
	ticket := authValue(r.Header.Get("Cookie"), "PVEAuthCookie")
	if ticket == "" {
		ticket = authValue(r.Header.Get("Authorization"), "PVEAuthCookie")
	}
	if token := authValue(r.Header.Get("Authorization"), "PVEAPIToken"); ticket == "" && token != "" {
		return c.authenticateToken(token)
	}
	if ticket == "" {
		return unauthorized("No ticket")
	}
	c.who = c.ticketUser(ticket, c.now)
	if c.st.accounts.ByID[c.who] == nil {
		return unauthorized("Authentication failed!")
	}
	if r.Method != http.MethodGet && !c.route.upload {
		return c.checkCSRF(r.Header.Get("CSRFPreventionToken"))
	}
	return nil
}

func (c *call) authenticateToken(token string) error {
	at := strings.LastIndex(token, "=")
	if at < 0 {
		return unauthorized("Authentication failed!")
	}
	a := c.st.accounts.ByID[token[:at]]
	if a == nil || !strings.Contains(a.ID, "!") || !same(a.Secret, token[at+1:]) || !a.Expires.IsZero() && a.Expires.Before(c.now) {
		return unauthorized("Authentication failed!")
	}
	c.who, c.token = a.ID, true
	return nil
}

func (c *call) checkCSRF(token string) error {
	stamp, signature, _ := strings.Cut(token, ":")
	if !same(signature, c.sign(stamp+":"+c.who)) || !c.fresh(stamp, c.now) {
		return unauthorized("Permission denied - invalid csrf token")
	}
	return nil
}

// permissions are the privileges of someone on a path, each with whether it holds below.
// Neither roles nor grants change, so that they are found once.
func (p *PVE) permissions(who, path string) map[string]bool {
	key := who + " " + path
	if known, found := p.allowed[key]; found {
		return known
	}
	p.allowed[key] = p.findPermissions(who, path)
	return p.allowed[key]
}

func (p *PVE) findPermissions(who, path string) map[string]bool {
	if who == root {
		out := map[string]bool{}
		for _, one := range builtinRoles()["Administrator"] {
			out[one] = true
		}
		return out
	}
	a := p.st.accounts.ByID[who]
	switch {
	case a == nil:
		return nil
	case !strings.Contains(who, "!"):
		return p.st.grants.privileges(who, path)
	case !a.Separated:
		return p.permissions(userOf(who), path)
	}
	own, users := p.st.grants.privileges(who, path), p.permissions(userOf(who), path)
	maps.DeleteFunc(own, func(privilege string, _ bool) bool { _, has := users[privilege]; return !has })
	for privilege := range own {
		own[privilege] = own[privilege] && users[privilege]
	}
	return own
}

// may reports whether the caller has a privilege on a path.
func (c *call) may(path, privilege string) bool {
	if c.powerless {
		return false
	}
	_, has := c.permissions(c.who, path)[privilege]
	return has
}

// need refuses a caller that lacks one of some privileges.
func (c *call) need(path string, privileges ...string) error {
	for _, one := range privileges {
		if !c.may(path, one) {
			return denied(path + ", " + one)
		}
	}
	return nil
}

// needAny refuses a caller that has none of some privileges.
func (c *call) needAny(path string, privileges ...string) error {
	if slices.ContainsFunc(privileges, func(one string) bool { return c.may(path, one) }) {
		return nil
	}
	return denied(path + ", " + strings.Join(privileges, "|"))
}

func (c *call) isRoot() bool { return c.who == root && !c.powerless }

// createTicket logs a user in.
func createTicket(c *call) (any, error) {
	user := c.params["username"]
	if realm := c.params["realm"]; realm != "" {
		user += "@" + realm
	}
	a := c.st.accounts.ByID[user]
	valid := a != nil && !strings.Contains(user, "!") && (same(a.Secret, c.params["password"]) || c.ticketUser(c.params["password"], c.now) == user)
	if !valid {
		return nil, refusal{status: http.StatusUnauthorized, message: "authentication failure"}
	}
	out := map[string]any{
		"username": user, "ticket": c.ticket(user, c.now), "CSRFPreventionToken": c.csrfToken(user, c.now), "cap": c.capabilities(user),
	}
	if _, audits := c.permissions(user, "/")["Sys.Audit"]; audits {
		out["clustername"] = c.name
	}
	return out, nil
}

// capabilities are the privileges of a user by kinds of paths.
func (p *PVE) capabilities(user string) map[string]map[string]int {
	out := map[string]map[string]int{}
	for kind, prefix := range map[string][]string{
		"vms": {"VM."}, "access": {"User.", "Group."}, "storage": {"Datastore."}, "nodes": {"Sys."}, "sdn": {"SDN."}, "dc": {"Sys.Audit", "Sys.Modify", "SDN."}, "mapping": {"Mapping."},
	} {
		out[kind] = map[string]int{}
		path := "/" + kind
		if kind == "dc" {
			path = "/"
		}
		for privilege := range p.permissions(user, path) {
			if slices.ContainsFunc(append(prefix, "Permissions.Modify"), func(one string) bool { return strings.HasPrefix(privilege, one) }) {
				out[kind][privilege] = 1
			}
		}
	}
	return out
}

// getPermissions reports what someone may do where.
func getPermissions(c *call) (any, error) {
	who := c.params["userid"]
	if who == "" {
		who = c.who
	}
	if who != c.who && userOf(who) != c.who {
		if err := c.need("/access", "Sys.Audit"); err != nil {
			return nil, err
		}
	}
	paths := []string{c.params["path"]}
	if paths[0] == "" {
		paths = []string{"/", "/access", "/access/groups", "/nodes", "/pool", "/sdn", "/storage", "/vms"}
		for _, one := range c.st.grants.acl {
			paths = append(paths, one.Path)
		}
	}
	out := map[string]map[string]int{}
	for _, path := range paths {
		for privilege, below := range c.permissions(who, path) {
			if out[path] == nil {
				out[path] = map[string]int{}
			}
			out[path][privilege] = map[bool]int{true: 1}[below]
		}
	}
	if c.powerless {
		return map[string]any{}, nil
	}
	return out, nil
}
