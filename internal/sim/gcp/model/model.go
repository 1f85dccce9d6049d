// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package model has the methods that the simulated Compute Engine serves, with their
// parameters and the fields of their bodies, and checks requests against them. The table
// is generated from the discovery document.
package model

import (
	_ "embed"
	"regexp"
	"strings"
)

//go:generate go run ./generate -out table.txt

//go:embed table.txt
var table string

// Model is all methods and schemas.
type Model struct {
	Methods []Method
	// standard are the parameters that every method has.
	standard map[string]bool
	schemas  map[string]map[string]Field
}

// Method is one method of the API.
type Method struct {
	Name   string // such as instances.insert
	Verb   string // of HTTP
	Body   string // the schema; empty: none
	Params map[string]Field
	path   []string
}

// Field is a field of a schema, or a parameter of a method.
type Field struct {
	// Kind is string, bool, number, bytes, int32, uint32, int64 or uint64; $NAME is a
	// schema, []KIND a list, {}KIND a map.
	Kind               string
	Path               bool // the parameter is in the path
	Required, ReadOnly bool
	Values             []string // nil: any
	Pattern            *regexp.Regexp
	pattern            string
}

// Load returns the model of the generated table.
func Load() *Model {
	m := &Model{standard: map[string]bool{}, schemas: map[string]map[string]Field{}}
	var current map[string]Field
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "\t"):
			current[words[0]] = parseField(words[1:])
		case words[0] == "standard":
			for _, name := range words[1:] {
				m.standard[name] = true
			}
		case words[0] == "method":
			current = map[string]Field{}
			m.Methods = append(m.Methods, parseMethod(words[1:], current))
		case words[0] == "schema":
			current = map[string]Field{}
			m.schemas[words[1]] = current
		}
	}
	return m
}

func parseMethod(words []string, params map[string]Field) Method {
	m := Method{Name: words[0], Verb: words[1], path: strings.Split(words[2], "/"), Params: params}
	if len(words) > 3 {
		m.Body = words[3]
	}
	return m
}

func parseField(words []string) Field {
	f := Field{Kind: words[0]}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "path":
			f.Path = true
		case "required":
			f.Required = true
		case "readonly":
			f.ReadOnly = true
		case "enum":
			f.Values = strings.Split(value, "|")
		case "pattern":
			f.pattern = value
			f.Pattern = regexp.MustCompile("^(?:" + value + ")$")
		}
	}
	return f
}

// Find returns the method of a request, whose path begins with projects, and the
// parameters in the path.
func (m *Model) Find(verb, path string) (Method, map[string]string, bool) {
	parts := strings.Split(path, "/")
	for _, method := range m.Methods {
		if method.Verb != verb || len(method.path) != len(parts) {
			continue
		}
		if params, fits := method.match(parts); fits {
			return method, params, true
		}
	}
	return Method{}, nil, false
}

func (m Method) match(parts []string) (map[string]string, bool) {
	params := map[string]string{}
	for i, part := range m.path {
		name, isParam := strings.CutPrefix(part, "{")
		switch {
		case isParam && parts[i] != "":
			params[strings.TrimSuffix(name, "}")] = parts[i]
		case part != parts[i]:
			return nil, false
		}
	}
	return params, true
}
