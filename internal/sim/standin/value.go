// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package standin

import "encoding/json"

// values are those that a chart knows, with their defaults. Their types are the
// chart's schema: a name that is not among them is refused, as is another type.
type values map[string]any

// free is a value whose names are the user's own.
type free struct{}

// MarshalJSON writes the default, which is empty.
func (free) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }

// schema of the values, as a chart's values.schema.json.
func (v values) schema() ([]byte, error) {
	s := v.describe()
	s["$schema"] = "http://json-schema.org/draft-07/schema#"
	return json.MarshalIndent(s, "", "  ")
}

func (v values) describe() object {
	properties := object{}
	for name, one := range v {
		properties[name] = describe(one)
	}
	return object{"type": "object", "additionalProperties": false, "properties": properties}
}

func describe(v any) object {
	switch v := v.(type) {
	case values:
		return v.describe()
	case free:
		return object{"type": "object"}
	case bool:
		return object{"type": "boolean"}
	case int:
		return object{"type": "integer"}
	case string:
		return object{"type": "string"}
	default:
		return object{"type": "array"}
	}
}
