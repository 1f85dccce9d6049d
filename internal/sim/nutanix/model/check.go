// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Problems are what is wrong with a body: messages by the path of an object in it, in the
// words of the JSON schema validation that the platform answers with.
type Problems map[string][]string

var forms = map[string]*regexp.Regexp{
	"uuid": regexp.MustCompile(`^[a-fA-F0-9]{8}-[a-fA-F0-9]{4}-[a-fA-F0-9]{4}-[a-fA-F0-9]{4}-[a-fA-F0-9]{12}$`),
	"mac":  regexp.MustCompile(`^([0-9A-Fa-f]{2}[:-]){5}([0-9A-Fa-f]{2})$`),
	"ip":   regexp.MustCompile(`^(?:(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\.){3}(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)$`),
}

// IsUUID reports whether a text has the form of an entity's UUID.
func IsUUID(text string) bool { return forms["uuid"].MatchString(text) }

// Check returns what is wrong with a body; nil: nothing. Its numbers are json.Number.
func (m *Model) Check(schema string, body map[string]any) Problems {
	p := Problems{}
	m.object(p, "", schema, body)
	if len(p) == 0 {
		return nil
	}
	return p
}

func (p Problems) add(path, format string, args ...any) {
	p[path] = append(p[path], fmt.Sprintf(format, args...))
}

func (m *Model) object(p Problems, path, schema string, in map[string]any) {
	fields := m.schemas[schema]
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if _, there := in[name]; !there && fields[name].required {
			p.add(path, "'%s' is a required property", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		f, known := fields[name]
		if !known {
			p.add(path, "Additional properties are not allowed ('%s' was unexpected)", name)
			continue
		}
		m.value(p, strings.TrimPrefix(path+"."+name, "."), f, in[name])
	}
}

func (m *Model) value(p Problems, path string, f field, value any) {
	inner := f
	switch {
	case strings.HasPrefix(f.kind, "[]"):
		inner.kind = f.kind[2:]
		list, ok := value.([]any)
		if !ok {
			p.add(path, "%s is not of type 'array'", show(value))
		}
		for i, one := range list {
			m.value(p, fmt.Sprintf("%s.%d", path, i), inner, one)
		}
	case strings.HasPrefix(f.kind, "{}"), strings.HasPrefix(f.kind, "$"):
		m.fields(p, path, f, value)
	case f.kind != "any":
		checkScalar(p, path, f, value)
	}
}

func (m *Model) fields(p Problems, path string, f field, value any) {
	object, ok := value.(map[string]any)
	switch {
	case !ok:
		p.add(path, "%s is not of type 'object'", show(value))
	case f.kind[0] == '$':
		m.object(p, path, f.kind[1:], object)
	default:
		for _, key := range slices.Sorted(maps.Keys(object)) {
			m.value(p, path+"."+key, field{kind: f.kind[2:]}, object[key])
		}
	}
}

func checkScalar(p Problems, path string, f field, value any) {
	if !f.fits(value) {
		p.add(path, "%s is not of type '%s'", show(value), f.kind)
		return
	}
	text, _ := value.(string)
	switch {
	case f.values != nil && !slices.Contains(f.values, text):
		p.add(path, "%s is not one of ['%s']", show(value), strings.Join(f.values, "', '"))
	case f.form != "" && !forms[f.form].MatchString(text):
		p.add(path, "%s does not match '%s'", show(value), forms[f.form])
	case f.max > 0 && len([]rune(text)) > f.max:
		p.add(path, "%s is too long", show(text[:min(len(text), 64)]+"…"))
	case f.min != nil:
		if n, err := strconv.Atoi(fmt.Sprint(value)); err == nil && n < *f.min {
			p.add(path, "%d is less than the minimum of %d", n, *f.min)
		}
	}
}

// fits reports whether a value is of the field's kind.
func (f field) fits(value any) bool {
	switch v := value.(type) {
	case string:
		return f.kind == "string"
	case bool:
		return f.kind == "boolean"
	case json.Number:
		_, err := v.Int64()
		return f.kind == "number" || f.kind == "integer" && err == nil
	}
	return false
}

// show is a value as messages have it.
func show(value any) string {
	switch v := value.(type) {
	case nil:
		return "None"
	case string:
		return "'" + v + "'"
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return "?"
	}
	return string(raw)
}
