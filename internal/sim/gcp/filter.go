// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var errFilter = errors.New("no filter expression")

// predicate reports whether a list shows an object.
type predicate func(object) bool

var filterToken = regexp.MustCompile(`\s*(\(|\)|!=|<=|>=|=|<|>|:|"(?:[^"\\]|\\.)*"|'[^']*'|[^\s()=!<>:"']+)`)

// filterParser reads a filter expression: comparisons joined by AND, OR, NOT and
// parentheses. What follows each other without a word is joined by AND.
type filterParser struct{ tokens []string }

func parseFilter(text string) (predicate, error) {
	p := &filterParser{}
	for rest := text; strings.TrimSpace(rest) != ""; {
		at := filterToken.FindStringSubmatchIndex(rest)
		if at == nil || at[0] != 0 {
			return nil, errFilter
		}
		p.tokens = append(p.tokens, rest[at[2]:at[3]])
		rest = rest[at[1]:]
	}
	fits, err := p.any()
	if err == nil && len(p.tokens) > 0 {
		err = errFilter
	}
	return fits, err
}

func (p *filterParser) peek() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0]
}

func (p *filterParser) next() string {
	out := p.peek()
	if out != "" {
		p.tokens = p.tokens[1:]
	}
	return out
}

func (p *filterParser) any() (predicate, error) {
	left, err := p.all()
	for err == nil && p.peek() == "OR" {
		p.next()
		var right predicate
		before := left
		right, err = p.all()
		left = func(o object) bool { return before(o) || right(o) }
	}
	return left, err
}

func (p *filterParser) all() (predicate, error) {
	left, err := p.one()
	for err == nil && p.peek() != "" && p.peek() != ")" && p.peek() != "OR" {
		if p.peek() == "AND" {
			p.next()
		}
		var right predicate
		before := left
		right, err = p.one()
		left = func(o object) bool { return before(o) && right(o) }
	}
	return left, err
}

func (p *filterParser) one() (predicate, error) {
	switch token := p.next(); {
	case token == "NOT":
		inner, err := p.one()
		return func(o object) bool { return !inner(o) }, err
	case token == "(":
		inner, err := p.any()
		if err == nil && p.next() != ")" {
			err = errFilter
		}
		return inner, err
	case token == "" || strings.ContainsAny(token[:1], `=!<>:)"'`):
		return nil, errFilter
	default:
		return p.comparison(token)
	}
}

func (p *filterParser) comparison(field string) (predicate, error) {
	operator, value := p.next(), p.next()
	switch {
	case value == "" || value == ")":
		return nil, errFilter
	case strings.HasPrefix(value, `"`):
		unquoted, err := strconv.Unquote(value)
		if err != nil {
			return nil, errFilter
		}
		value = unquoted
	case strings.HasPrefix(value, "'"):
		value = strings.Trim(value, "'")
	}
	compare, err := comparator(operator, value)
	if err != nil {
		return nil, err
	}
	path := strings.Split(field, ".")
	negated := operator == "!=" || operator == "ne"
	return func(o object) bool {
		found := lookUp(map[string]any(o), path)
		if negated {
			return !slices.ContainsFunc(found, func(v string) bool { return v == value || operator == "ne" && !compare(v) })
		}
		return slices.ContainsFunc(found, compare)
	}, nil
}

// comparator compares a field with a value. eq and ne take regular expressions, = and : a
// star.
func comparator(operator, value string) (func(string) bool, error) {
	switch operator {
	case "=", ":":
		if operator == ":" && value == "*" {
			return func(string) bool { return true }, nil
		}
		pattern := "(?i)^" + strings.ReplaceAll(regexp.QuoteMeta(value), `\*`, ".*") + "$"
		if operator == ":" {
			pattern = "(?i)" + strings.ReplaceAll(regexp.QuoteMeta(value), `\*`, ".*")
		}
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, errFilter
		}
		return re.MatchString, nil
	case "!=":
		return func(v string) bool { return v != value }, nil
	case "eq", "ne":
		re, err := regexp.Compile("^(?:" + value + ")$")
		if err != nil {
			return nil, errFilter
		}
		return func(v string) bool { return re.MatchString(v) == (operator == "eq") }, nil
	case "<", ">", "<=", ">=":
		return func(v string) bool { return ordered(operator, v, value) }, nil
	}
	return nil, errFilter
}

func ordered(operator, a, b string) bool {
	order := strings.Compare(a, b)
	x, xErr := strconv.ParseFloat(a, 64)
	y, yErr := strconv.ParseFloat(b, 64)
	if xErr == nil && yErr == nil {
		order = 0
		switch {
		case x < y:
			order = -1
		case x > y:
			order = 1
		}
	}
	switch operator {
	case "<":
		return order < 0
	case ">":
		return order > 0
	case "<=":
		return order <= 0
	}
	return order >= 0
}

// lookUp returns the values of a field, as text. Of lists it is those of all elements.
func lookUp(value any, path []string) (out []string) {
	switch v := value.(type) {
	case object:
		return lookUp(map[string]any(v), path)
	case map[string]any:
		if len(path) == 0 {
			return nil
		}
		if inner, there := v[path[0]]; there {
			return lookUp(inner, path[1:])
		}
	case []any:
		for _, one := range v {
			out = append(out, lookUp(one, path)...)
		}
	case nil:
	default:
		if len(path) == 0 {
			return []string{fmt.Sprint(v)}
		}
	}
	return out
}
