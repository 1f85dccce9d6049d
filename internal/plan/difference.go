// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// difference is a field that two values do not have in common.
type difference struct{ path, from, to string }

// differences compares two values by their JSON. Entries of lists that have a name or a host
// are compared by it, others by their place.
func differences(a, b any) ([]difference, error) {
	left, err := tree(a)
	if err != nil {
		return nil, err
	}
	right, err := tree(b)
	if err != nil {
		return nil, err
	}
	return compare("", left, right), nil
}

func tree(v any) (out any, err error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return out, json.Unmarshal(data, &out)
}

func compare(path string, a, b any) (out []difference) {
	left, isLeft := fields(a)
	right, isRight := fields(b)
	if !isLeft || !isRight {
		if reflect.DeepEqual(a, b) {
			return nil
		}
		return []difference{{path, text(path, a), text(path, b)}}
	}
	keys := slices.Collect(maps.Keys(left))
	for k := range right {
		if _, both := left[k]; !both {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		out = append(out, compare(strings.TrimPrefix(path+k, "."), left[k], right[k])...)
	}
	return out
}

// fields are the parts of an object or of a list, with what they add to a path. What is
// absent has none, so that each field of what was added is listed.
func fields(v any) (map[string]any, bool) {
	out := map[string]any{}
	switch v := v.(type) {
	case nil:
		return out, true
	case map[string]any:
		for k, x := range v {
			out["."+k] = x
		}
		return out, true
	case []any:
		for i, x := range v {
			out["["+key(i, x)+"]"] = x
		}
		return out, true
	}
	return nil, false
}

// key is how an entry of a list is known.
func key(i int, v any) string {
	object, _ := v.(map[string]any)
	for _, name := range []string{"name", "host", "for"} {
		if text, ok := object[name].(string); ok {
			return text
		}
	}
	return fmt.Sprint(i)
}

// text is a value for people. Patches may hold credentials, and are not repeated.
func text(path string, v any) string {
	switch {
	case v == nil:
		return ""
	case strings.Contains(path, "Patches"):
		data, _ := json.Marshal(v) // it was read from JSON
		return fmt.Sprintf("(%d bytes)", len(data))
	}
	if s, ok := v.(string); ok {
		return s
	}
	data, _ := json.Marshal(v)
	return string(data)
}
