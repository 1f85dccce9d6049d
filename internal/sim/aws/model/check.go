// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Problem is the first thing that is wrong with the parameters of a request.
type Problem struct {
	Kind Kind
	// Path is the parameter, Value what the request has for it.
	Path, Value string
	// Parameter is what is known about it, if it is known.
	Parameter Parameter
}

// Kind is a kind of problem.
type Kind string

// The kinds of problems.
const (
	Unknown    Kind = "unknown"    // there is no such parameter
	Missing    Kind = "missing"    // it is required
	Malformed  Kind = "malformed"  // the value is not of its type
	OutOfRange Kind = "outOfRange" // the value is too small or too large, or too short or too long
	NotInEnum  Kind = "notInEnum"  // the value is none of the values
)

var index = regexp.MustCompile(`\.[0-9]+(\.|$)`)

// general returns a path with N for each index.
func general(path string) string {
	for {
		next := index.ReplaceAllString(path, ".N$1")
		if next == path {
			return path
		}
		path = next
	}
}

// Check returns the first problem of the parameters, nil without one.
func (o Operation) Check(p Params) *Problem {
	for _, key := range p.Keys() {
		known, found := o[general(key)]
		if !found {
			return &Problem{Kind: Unknown, Path: key, Value: p[key]}
		}
		if kind := known.check(p[key]); kind != "" {
			return &Problem{Kind: kind, Path: key, Value: p[key], Parameter: known}
		}
	}
	return o.missing(p)
}

func (k Parameter) check(value string) Kind {
	var err error
	size := int64(utf8.RuneCountInString(value))
	switch k.Kind {
	case "int":
		size, err = strconv.ParseInt(value, 10, 64)
	case "bool":
		if value != "true" && value != "false" {
			return Malformed
		}
		return ""
	case "time":
		_, err = time.Parse(time.RFC3339, value)
		return malformed(err)
	case "float":
		_, err = strconv.ParseFloat(value, 64)
		return malformed(err)
	case "list", "structure", "map":
		if value != "" { // an empty list is sent so
			return Malformed
		}
		return ""
	}
	switch {
	case err != nil:
		return Malformed
	case k.Min != nil && size < *k.Min, k.Max != nil && size > *k.Max:
		return OutOfRange
	case k.Values != nil && !slices.Contains(k.Values, value):
		return NotInEnum
	}
	return ""
}

func malformed(err error) Kind {
	if err != nil {
		return Malformed
	}
	return ""
}

// missing finds a required parameter that is not present although its parent is.
func (o Operation) missing(p Params) *Problem {
	parents := p.parents()
	for _, path := range slices.Sorted(maps.Keys(o)) {
		k := o[path]
		if !k.Required {
			continue
		}
		parent, name := "", path
		if i := strings.LastIndex(path, "."); i >= 0 {
			parent, name = path[:i], path[i+1:]
		}
		for _, at := range parents[parent] {
			if full := strings.TrimPrefix(at+"."+name, "."); !p.Has(full) {
				return &Problem{Kind: Missing, Path: full, Parameter: k}
			}
		}
	}
	return nil
}

// parents returns the structures that are present, by their general path.
func (p Params) parents() map[string][]string {
	out := map[string][]string{"": {""}}
	seen := map[string]bool{}
	for key := range p {
		for i, c := range key {
			if c != '.' || seen[key[:i]] {
				continue
			}
			seen[key[:i]] = true
			out[general(key[:i])] = append(out[general(key[:i])], key[:i])
		}
	}
	return out
}
