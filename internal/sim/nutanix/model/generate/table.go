// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// writer writes the schemas of some bodies, with all schemas that those refer to.
type writer struct {
	strings.Builder
	document
	pending []string
	written map[string]bool
}

func (d document) table(bodies []string) (string, error) {
	w := &writer{document: d, pending: bodies, written: map[string]bool{}}
	fmt.Fprintf(w, "# Written by generate from the description of v3 in %s; do not edit.\n", source)
	for len(w.pending) > 0 {
		next := w.pending[0]
		w.pending = w.pending[1:]
		s, known := d.Definitions[next]
		if !known {
			return "", fmt.Errorf("there is no schema %s", next)
		}
		w.schema(next, s)
	}
	return w.String(), nil
}

func (w *writer) schema(name string, s schema) {
	if w.written[name] {
		return
	}
	w.written[name] = true
	fmt.Fprintln(w, "schema", name)
	inline := map[string]schema{}
	for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
		p := w.resolve(s.Properties[field])
		line := field + " " + w.kind(name+"."+field, p, inline) + p.constraints()
		if slices.Contains(s.Required, field) {
			line += " required"
		}
		fmt.Fprintln(w, "\t"+line)
	}
	for _, nested := range slices.Sorted(maps.Keys(inline)) {
		w.schema(nested, inline[nested])
	}
}

// resolve follows a reference to a schema without fields.
func (w *writer) resolve(s schema) schema {
	if s.Ref == "" {
		return s
	}
	if to := w.Definitions[name(s.Ref)]; len(to.Properties) == 0 {
		return w.resolve(to)
	}
	return s
}

func name(ref string) string { return strings.TrimPrefix(ref, "#/definitions/") }

// kind is the type of a field. Objects without a name of their own get that of the field.
func (w *writer) kind(at string, s schema, inline map[string]schema) string {
	switch {
	case s.Ref != "":
		w.pending = append(w.pending, name(s.Ref))
		return "$" + name(s.Ref)
	case s.Type == "array":
		return "[]" + w.kind(at, w.resolve(*s.Items), inline)
	case s.Values != nil:
		return "{}" + w.kind(at, w.resolve(s.Values.schema), inline)
	case s.Type == "object" && len(s.Properties) == 0:
		return "{}any"
	case s.Type == "object":
		inline[at] = s
		return "$" + at
	case s.Type == "":
		return "any"
	}
	return s.Type
}

func (s schema) constraints() (out string) {
	if s.MaxLength > 0 {
		out += fmt.Sprint(" max=", s.MaxLength)
	}
	if s.Minimum != nil {
		out += fmt.Sprint(" min=", *s.Minimum)
	}
	if len(s.Enum) > 0 {
		out += " enum=" + strings.Join(s.Enum, "|")
	}
	return out + s.form()
}

// form is that of a text: the patterns of addresses of hosts and files are left out.
func (s schema) form() string {
	switch {
	case s.Format == "UUID":
		return " form=uuid"
	case strings.HasPrefix(s.Pattern, "^([0-9A-Fa-f]{2}[:-])"):
		return " form=mac"
	case strings.HasPrefix(s.Pattern, "^(?:(?:25[0-5]"):
		return " form=ip"
	}
	return ""
}
