// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"time"
)

// fields are the elements of a structure in an answer: names and values in turn. A nil
// value is left out.
type fields []any

// items is a list whose elements are called item, members one whose elements are called
// member.
type (
	items   []any
	members []any
)

// optional leaves out an empty string.
func optional(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func encode(b *bytes.Buffer, name string, value any) {
	if value == nil {
		return
	}
	fmt.Fprintf(b, "<%s>", name)
	switch v := value.(type) {
	case fields:
		for i := 0; i+1 < len(v); i += 2 {
			encode(b, fmt.Sprint(v[i]), v[i+1])
		}
	case items:
		for _, one := range v {
			encode(b, "item", one)
		}
	case members:
		for _, one := range v {
			encode(b, "member", one)
		}
	default:
		_ = xml.EscapeText(b, []byte(text(value))) // a buffer takes everything
	}
	fmt.Fprintf(b, "</%s>", name)
}

func text(value any) string {
	if t, ok := value.(time.Time); ok {
		return t.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	return fmt.Sprint(value)
}

// plain returns an answer as values that can be marshalled as JSON.
func plain(value any) any {
	switch v := value.(type) {
	case fields:
		out := map[string]any{}
		for i := 0; i+1 < len(v); i += 2 {
			if v[i+1] != nil {
				out[fmt.Sprint(v[i])] = plain(v[i+1])
			}
		}
		return out
	case members:
		out := []any{}
		for _, one := range v {
			out = append(out, plain(one))
		}
		return out
	}
	return value
}

func encodeJSON(value any) []byte {
	raw, err := json.Marshal(plain(value))
	if err != nil {
		return []byte("{}")
	}
	return raw
}

// list turns objects into the elements of a list.
func list[T any](all []T, show func(T) fields) (out []any) {
	for _, o := range all {
		out = append(out, show(o))
	}
	return out
}
