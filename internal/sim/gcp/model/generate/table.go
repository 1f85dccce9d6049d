// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// writer writes a table: first methods with their parameters, then the schemas of their
// bodies with all schemas that those refer to.
type writer struct {
	strings.Builder
	document
	pending []string
	written map[string]bool
}

func (d document) table(methods []string) (string, error) {
	w := &writer{document: d, written: map[string]bool{}}
	fmt.Fprintf(w, "# Written by generate from %s, revision %s; do not edit.\n", source, d.Revision)
	fmt.Fprintln(w, "standard", strings.Join(slices.Sorted(maps.Keys(d.Parameters)), " "))
	for _, name := range methods {
		resource, verb, _ := strings.Cut(name, ".")
		m, known := d.Resources[resource].Methods[verb]
		if !known {
			return "", fmt.Errorf("there is no method %s", name)
		}
		w.method(name, m)
	}
	for len(w.pending) > 0 {
		next := w.pending[0]
		w.pending = w.pending[1:]
		w.schema(next, d.Schemas[next])
	}
	return w.String(), nil
}

func (w *writer) method(name string, m method) {
	fmt.Fprint(w, "method ", name, " ", m.HTTPMethod, " ", m.Path)
	if m.Request.Ref != "" {
		fmt.Fprint(w, " ", m.Request.Ref)
		w.pending = append(w.pending, m.Request.Ref)
	}
	fmt.Fprintln(w)
	for _, p := range slices.Sorted(maps.Keys(m.Parameters)) {
		s := m.Parameters[p]
		kind := s.kind()
		if s.Repeated {
			kind = "[]" + kind
		}
		fmt.Fprintf(w, "\t%s %s %s%s\n", p, kind, s.Location, s.constraints())
	}
}

func (w *writer) schema(name string, s schema) {
	if w.written[name] {
		return
	}
	w.written[name] = true
	fmt.Fprintln(w, "schema", name)
	inline := map[string]schema{}
	for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[field]
		fmt.Fprintf(w, "\t%s %s%s\n", field, w.kind(name+"."+field, p, inline), p.constraints())
	}
	for _, nested := range slices.Sorted(maps.Keys(inline)) {
		w.schema(nested, inline[nested])
	}
}

// kind is the type of a field. Objects without a name of their own get that of the field.
func (w *writer) kind(at string, s schema, inline map[string]schema) string {
	switch {
	case s.Ref != "":
		w.pending = append(w.pending, s.Ref)
		return "$" + s.Ref
	case s.Type == "array":
		return "[]" + w.kind(at, *s.Items, inline)
	case s.Values != nil:
		return "{}" + w.kind(at, *s.Values, inline)
	case s.Type == "object":
		inline[at] = s
		return "$" + at
	}
	return s.kind()
}

func (s schema) kind() string {
	switch {
	case s.Type == "boolean":
		return "bool"
	case s.Format == "int32", s.Format == "uint32", s.Format == "int64", s.Format == "uint64":
		return s.Format
	case s.Format == "byte":
		return "bytes"
	case s.Type == "number":
		return "number"
	}
	return "string"
}

func (s schema) constraints() (out string) {
	if s.Required {
		out += " required"
	}
	if s.ReadOnly {
		out += " readonly"
	}
	if s.Minimum != "" {
		out += " min=" + s.Minimum
	}
	if s.Maximum != "" {
		out += " max=" + s.Maximum
	}
	if len(s.Enum) > 0 {
		out += " enum=" + strings.Join(s.Enum, "|")
	}
	if s.Pattern != "" && !strings.Contains(s.Pattern, " ") {
		out += " pattern=" + s.Pattern
	}
	return out
}
