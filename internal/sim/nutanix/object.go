// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"encoding/json"
	"maps"
)

// object is an entity, or a part of one, as the API has it in JSON.
type object map[string]any

func (o object) str(key string) string {
	s, _ := o[key].(string)
	return s
}

func (o object) bool(key string) bool {
	b, _ := o[key].(bool)
	return b
}

func (o object) num(key string) int {
	switch v := o[key].(type) {
	case float64:
		return int(v)
	case int:
		return v
	case int64:
		return int(v)
	case json.Number:
		n, err := v.Int64()
		if err == nil {
			return int(n)
		}
	}
	return 0
}

func (o object) has(key string) bool {
	_, there := o[key]
	return there
}

func (o object) sub(key string) object {
	switch v := o[key].(type) {
	case object:
		return v
	case map[string]any:
		return v
	}
	return object{}
}

// subs is a list of objects. Changes of them are changes of the list.
func (o object) subs(key string) (out []object) {
	list, _ := o[key].([]any)
	for _, one := range list {
		switch v := one.(type) {
		case object:
			out = append(out, v)
		case map[string]any:
			out = append(out, v)
		}
	}
	return out
}

// fill sets fields that are not there.
func (o object) fill(defaults object) {
	for key, value := range defaults {
		if !o.has(key) {
			o[key] = value
		}
	}
}

// copied returns a deep copy.
func (o object) copied() object {
	raw, err := json.Marshal(o)
	out := object{}
	if err != nil || json.Unmarshal(raw, &out) != nil {
		return maps.Clone(o)
	}
	return out
}

func anys[T any](all []T) []any {
	out := []any{}
	for _, one := range all {
		out = append(out, one)
	}
	return out
}

// reference is how an entity names another one.
func reference(kind, uuid, name string) object {
	out := object{"kind": kind, "uuid": uuid}
	if name != "" {
		out["name"] = name
	}
	return out
}
