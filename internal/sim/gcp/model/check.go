// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Kind is what is wrong with a request.
type Kind string

// The kinds of problems.
const (
	Unknown   Kind = "unknown"
	Malformed Kind = "malformed"
	Pattern   Kind = "pattern"
	NotInEnum Kind = "enum"
)

// Problem is what is wrong with a parameter or a field.
type Problem struct {
	Kind  Kind
	Path  string // such as resource.disks[0].type
	Name  string // the last part of the path
	Value string
	Field Field
	Param bool // a parameter of the query or of the path
}

// Expected is what a value has to be, as Google's messages say it.
func (p Problem) Expected() string {
	return map[string]string{"bool": "TYPE_BOOL", "int32": "TYPE_INT32", "uint32": "TYPE_UINT32", "int64": "TYPE_INT64", "uint64": "TYPE_UINT64", "bytes": "TYPE_BYTES", "number": "TYPE_FLOAT"}[p.Field.Kind]
}

// Regex is the pattern that a value does not match.
func (p Problem) Regex() string { return p.Field.pattern }

// CheckParams checks the parameters of the query and of the path of a request.
func (m *Model) CheckParams(method Method, path map[string]string, query url.Values) *Problem {
	for name, value := range path {
		if p := check(name, method.Params[name], value); p != nil {
			p.Param = true
			return p
		}
	}
	for name, values := range query {
		f, known := method.Params[name]
		if !known && m.standard[name] || name == "$alt" {
			continue
		}
		if !known || f.Path {
			return &Problem{Kind: Unknown, Path: name, Name: name, Param: true}
		}
		f.Kind = strings.TrimPrefix(f.Kind, "[]")
		for _, value := range values {
			if p := check(name, f, value); p != nil {
				p.Param = true
				return p
			}
		}
	}
	return nil
}

func check(name string, f Field, value string) *Problem {
	p := &Problem{Path: name, Name: name, Value: value, Field: f}
	switch {
	case !scalar(f.Kind, value):
		p.Kind = Malformed
	case f.Pattern != nil && !f.Pattern.MatchString(value):
		p.Kind = Pattern
	case f.Values != nil && !slices.Contains(f.Values, value):
		p.Kind = NotInEnum
	default:
		return nil
	}
	return p
}

// scalar reports whether a text is a value of a kind.
func scalar(kind, text string) (ok bool) {
	var err error
	switch kind {
	case "bool":
		ok = text == "true" || text == "false"
		return ok
	case "int32":
		_, err = strconv.ParseInt(text, 10, 32)
	case "uint32":
		_, err = strconv.ParseUint(text, 10, 32)
	case "int64":
		_, err = strconv.ParseInt(text, 10, 64)
	case "uint64":
		_, err = strconv.ParseUint(text, 10, 64)
	case "number":
		_, err = strconv.ParseFloat(text, 64)
	case "bytes":
		if _, err = base64.StdEncoding.DecodeString(text); err != nil {
			_, err = base64.URLEncoding.DecodeString(text)
		}
	}
	return err == nil
}

// Read checks the fields of a body, and returns it as the API keeps it: without fields that
// it sets itself, 64-bit numbers as text, others as numbers. The body's numbers are
// json.Number.
func (m *Model) Read(schema string, body map[string]any) (map[string]any, *Problem) {
	return m.object("resource", schema, body)
}

func (m *Model) object(path, schema string, in map[string]any) (map[string]any, *Problem) {
	out := map[string]any{}
	for name, value := range in {
		f, known := m.schemas[schema][name]
		at := path + "." + name
		switch {
		case !known:
			return nil, &Problem{Kind: Unknown, Path: path, Name: name}
		case value == nil:
			continue
		}
		read, p := m.value(at, name, f, value)
		if p != nil {
			return nil, p
		}
		if !f.ReadOnly {
			out[name] = read
		}
	}
	return out, nil
}

func (m *Model) value(path, name string, f Field, value any) (any, *Problem) {
	wrong := &Problem{Kind: Malformed, Path: path, Name: name, Value: brief(value), Field: f}
	inner := f
	switch {
	case strings.HasPrefix(f.Kind, "[]"):
		inner.Kind = f.Kind[2:]
		list, ok := value.([]any)
		if !ok {
			return nil, wrong
		}
		return m.list(path, name, inner, list)
	case strings.HasPrefix(f.Kind, "{}"):
		inner.Kind = f.Kind[2:]
		fields, ok := value.(map[string]any)
		if !ok {
			return nil, wrong
		}
		return m.values(path, inner, fields)
	case strings.HasPrefix(f.Kind, "$"):
		fields, ok := value.(map[string]any)
		if !ok {
			return nil, wrong
		}
		return m.object(path, f.Kind[1:], fields)
	}
	return scalarValue(path, name, f, value)
}

func (m *Model) list(path, name string, f Field, in []any) (any, *Problem) {
	out := []any{}
	for i, one := range in {
		read, p := m.value(fmt.Sprintf("%s[%d]", path, i), name, f, one)
		if p != nil {
			return nil, p
		}
		out = append(out, read)
	}
	return out, nil
}

func (m *Model) values(path string, f Field, in map[string]any) (any, *Problem) {
	out := map[string]any{}
	for key, one := range in {
		read, p := m.value(path+"."+key, key, f, one)
		if p != nil {
			return nil, p
		}
		out[key] = read
	}
	return out, nil
}

// scalarValue accepts numbers as text too, and keeps 64-bit ones so.
func scalarValue(path, name string, f Field, value any) (any, *Problem) {
	text, isText := value.(string)
	switch v := value.(type) {
	case bool:
		text = strconv.FormatBool(v)
	case json.Number:
		text = v.String()
	}
	_, isBool := value.(bool)
	p := check(path, f, text)
	if p != nil {
		p.Name, p.Value = name, brief(value)
	}
	switch {
	case f.Kind == "bool" != isBool && (isBool || !isText), (f.Kind == "string" || f.Kind == "bytes") && !isText:
		return nil, &Problem{Kind: Malformed, Path: path, Name: name, Value: brief(value), Field: f}
	case p != nil:
		return nil, p
	}
	switch f.Kind {
	case "bool":
		return text == "true", nil
	case "int32", "uint32", "number":
		number, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, &Problem{Kind: Malformed, Path: path, Name: name, Value: text, Field: f}
		}
		return number, nil
	}
	return text, nil
}

// brief is a value as messages show it.
func brief(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(raw)
}
