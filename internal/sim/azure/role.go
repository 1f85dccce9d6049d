// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// role is a role definition, as the tools take it.
type role struct {
	Name             string
	IsCustom         bool
	Description      string
	Actions          []string
	NotActions       []string
	DataActions      []string
	NotDataActions   []string
	AssignableScopes []string
}

// documented is the role that the guide asks for.
//
//go:embed role.json
var documented []byte

const everything = `{"Name":"Owner","Actions":["*"]}`

func parseRole(raw []byte) (r role, err error) {
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, fmt.Errorf("role of the simulated Azure: %w", err)
	}
	return r, nil
}

// allows reports whether a role has an action.
func (r role) allows(action string) bool {
	return matchesAny(r.Actions, action) && !matchesAny(r.NotActions, action)
}

func matchesAny(patterns []string, action string) bool {
	for _, p := range patterns {
		if matchAction(strings.ToLower(p), strings.ToLower(action)) {
			return true
		}
	}
	return false
}

// matchAction compares an action with a pattern in which * is any text.
func matchAction(pattern, action string) bool {
	first, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == action
	}
	action, found := strings.CutPrefix(action, first)
	for found && len(action) > 0 && !matchAction(rest, action) {
		action = action[1:]
	}
	return found && matchAction(rest, action)
}

// may reports whether an actor has an action on a scope.
func (p *actor) may(action, scope string) bool {
	scope = strings.ToLower(scope) + "/"
	for _, a := range p.Assignments {
		if strings.HasPrefix(scope, strings.ToLower(strings.TrimRight(a.Scope, "/"))+"/") && a.role.allows(action) {
			return true
		}
	}
	return false
}

// authorize refuses an action that no role of the caller has.
func (c *call) authorize(action, scope string) error {
	if c.who.may(action, scope) {
		return nil
	}
	return unauthorized(c.who, action, scope)
}

func unauthorized(who *actor, action, scope string) error {
	return refuse(http.StatusForbidden, "AuthorizationFailed",
		"The client '%s' with object id '%s' does not have authorization to perform action '%s' over scope '%s' or the scope is invalid. If access was recently granted, please refresh your credentials.",
		who.ClientID, who.ObjectID, action, scope)
}

// link is an action on another resource that a call needs.
type link struct{ action, scope string }

// authorizeLinks refuses a resource that refers to others without permission.
func (c *call) authorizeLinks(k *kind, id resourceID, r *record) error {
	if k.links == nil {
		return nil
	}
	for _, l := range k.links(c, r) {
		if l.scope != "" && !c.who.may(l.action, l.scope) {
			return refuse(http.StatusForbidden, "LinkedAuthorizationFailed",
				"The client '%s' with object id '%s' has permission to perform action '%s/write' on scope '%s'; however, it does not have permission to perform action(s) '%s' on the linked scope(s) '%s' (respectively) or the linked scope(s) are invalid.",
				c.who.ClientID, c.who.ObjectID, k.name, id, l.action, l.scope)
		}
	}
	return nil
}

// serveAuthorization answers which actions the caller has on a scope.
func (c *call) serveAuthorization() (answer, error) {
	if c.method != http.MethodGet || len(c.id.types) != 1 || !strings.EqualFold(c.id.types[0], "permissions") {
		return answer{}, unknownPath(c)
	}
	scope := resourceID{subscription: c.id.subscription, group: c.id.group}
	if scope.group != "" && c.st.resources.ByID[scope.key()] == nil {
		return answer{}, groupNotFound(scope.group)
	}
	if err := c.authorize("Microsoft.Authorization/permissions/read", scope.String()); err != nil {
		return answer{}, err
	}
	var out []any
	for _, a := range c.who.Assignments {
		if strings.HasPrefix(scope.key()+"/", strings.ToLower(strings.TrimRight(a.Scope, "/"))+"/") {
			out = append(out, map[string][]string{
				"actions": notNil(a.role.Actions), "notActions": notNil(a.role.NotActions),
				"dataActions": notNil(a.role.DataActions), "notDataActions": notNil(a.role.NotDataActions),
			})
		}
	}
	return c.page(out)
}

func notNil(all []string) []string { return append([]string{}, all...) }
