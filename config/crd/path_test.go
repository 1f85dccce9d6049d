// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package crd_test

import "strings"

// A path leads through an object: spec.talos.configPatches[].op is the field op
// of the first element of that list.

// set writes a value at a path and makes what is missing on the way; nil
// removes.
func set(o map[string]any, path string, value any) {
	name, rest, deeper := strings.Cut(path, ".")
	field, isList := strings.CutSuffix(name, "[]")
	switch {
	case isList && !deeper:
		o[field] = []any{value}
	case !deeper && value == nil:
		delete(o, name)
	case !deeper:
		o[name] = value
	case isList:
		list, ok := o[field].([]any)
		if !ok || len(list) == 0 {
			list = []any{map[string]any{}}
			o[field] = list
		}
		set(list[0].(map[string]any), rest, value)
	default:
		next, ok := o[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			o[name] = next
		}
		set(next, rest, value)
	}
}

// get returns what stands at a path, or nil.
func get(o map[string]any, path string) any {
	name, rest, deeper := strings.Cut(path, ".")
	field, isList := strings.CutSuffix(name, "[]")
	value := o[field]
	if isList {
		list, ok := value.([]any)
		if !ok || len(list) == 0 {
			return nil
		}
		value = list[0]
	}
	if !deeper {
		return value
	}
	next, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	return get(next, rest)
}
