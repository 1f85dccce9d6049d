// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package policy evaluates IAM policy documents.
package policy

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Document is a policy document.
type Document struct {
	Version    string
	Statements []Statement `json:"Statement"`
}

// Statement allows or denies actions on resources.
type Statement struct {
	Sid       string `json:",omitempty"`
	Effect    string
	Principal json.RawMessage `json:",omitempty"`
	Actions   Words           `json:"Action,omitempty"`
	NotAction Words           `json:",omitempty"`
	Resources Words           `json:"Resource,omitempty"`
	Condition Condition       `json:",omitempty"`
}

// Words is one word or a list.
type Words []string

// UnmarshalJSON accepts both forms.
func (w *Words) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*w = Words{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(w))
}

// Condition has values by operator and key.
type Condition map[string]map[string]Words

// Decision is the result of an evaluation.
type Decision string

// The decisions.
const (
	Allowed      Decision = "allowed"
	ImplicitDeny Decision = "implicitDeny"
	ExplicitDeny Decision = "explicitDeny"
)

// Request is what a caller wants to do.
type Request struct {
	Action   string // such as ec2:RunInstances
	Resource string // ARN; * where the action has none
	// Context has the values of condition keys.
	Context map[string]string
}

// Parse reads a document, and refuses one that could not be evaluated.
func Parse(raw []byte) (d Document, err error) {
	if err := json.Unmarshal(raw, &d); err != nil {
		return d, fmt.Errorf("policy document: %w", err)
	}
	for _, s := range d.Statements {
		if s.Effect != "Allow" && s.Effect != "Deny" {
			return d, fmt.Errorf("policy document: effect %q of statement %q", s.Effect, s.Sid)
		}
		if err := s.Condition.check(); err != nil {
			return d, fmt.Errorf("policy document: statement %q: %w", s.Sid, err)
		}
	}
	return d, nil
}

// Evaluate decides about a request under all documents of a caller.
func Evaluate(documents []Document, r Request) Decision {
	decision := ImplicitDeny
	for _, d := range documents {
		for _, s := range d.Statements {
			switch {
			case !s.applies(r):
			case s.Effect == "Deny":
				return ExplicitDeny
			default:
				decision = Allowed
			}
		}
	}
	return decision
}

func (s Statement) applies(r Request) bool {
	if len(s.NotAction) > 0 && matchAny(s.NotAction, r.Action, true) {
		return false
	}
	if len(s.NotAction) == 0 && !matchAny(s.Actions, r.Action, true) {
		return false
	}
	return (len(s.Resources) == 0 || r.Resource == "" || matchAny(s.Resources, r.Resource, false)) && s.Condition.holds(r.Context)
}

func matchAny(patterns Words, text string, fold bool) bool {
	for _, p := range patterns {
		if fold {
			p, text = strings.ToLower(p), strings.ToLower(text)
		}
		if Match(p, text) {
			return true
		}
	}
	return false
}

// Match reports whether a text fits a pattern, in which * is any characters and ? is one.
func Match(pattern, text string) bool {
	for len(pattern) > 0 {
		switch pattern[0] {
		case '*':
			for i := 0; i <= len(text); i++ {
				if Match(pattern[1:], text[i:]) {
					return true
				}
			}
			return false
		case '?':
			if text == "" {
				return false
			}
		default:
			if text == "" || text[0] != pattern[0] {
				return false
			}
		}
		pattern, text = pattern[1:], text[1:]
	}
	return text == ""
}
