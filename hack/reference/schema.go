// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// schema is what is used of an OpenAPI schema.
type schema struct {
	Type, Format, Description, Pattern string
	Default                            any
	Enum                               []any
	Minimum, Maximum                   *int64
	MinLength, MaxLength               *int64
	MinItems, MaxItems                 *int64
	MaxProperties                      *int64
	Properties                         map[string]schema
	AdditionalProperties               *schema
	Items                              *schema
	Required                           []string
	IntOrString                        bool `json:"x-kubernetes-int-or-string"`
}

// kind is the type of a field, in the words of the pages.
func (s schema) kind() string {
	switch {
	case s.IntOrString:
		return "quantity"
	case s.Items != nil:
		return "list of " + s.Items.kind() + "s"
	case s.AdditionalProperties != nil:
		return "map of " + s.AdditionalProperties.kind() + "s"
	case s.Format == "int32" || s.Format == "int64":
		return s.Format
	case s.Format == "date-time":
		return "time"
	}
	return s.Type
}

func (s schema) defaultText() string {
	if s.Default == nil {
		return ""
	}
	if text, ok := s.Default.(string); ok {
		return "`" + text + "`"
	}
	text, err := json.Marshal(s.Default)
	if err != nil {
		return ""
	}
	return "`" + string(text) + "`"
}

// limits are the values that a field can have.
func (s schema) limits() string {
	var all []string
	for _, value := range s.Enum {
		all = append(all, fmt.Sprintf("`%v`", value))
	}
	all = append(all, interval("", s.Minimum, s.Maximum), interval(" characters", s.MinLength, s.MaxLength),
		interval(" elements", s.MinItems, s.MaxItems), interval(" keys", nil, s.MaxProperties))
	if s.Pattern != "" {
		all = append(all, "`"+strings.ReplaceAll(s.Pattern, "|", `\|`)+"`")
	}
	return strings.Join(strings.FieldsFunc(strings.Join(all, "\n"), func(r rune) bool { return r == '\n' }), ", ")
}

func interval(unit string, least, most *int64) string {
	switch {
	case least != nil && most != nil:
		return fmt.Sprintf("%d to %d%s", *least, *most, unit)
	case least != nil:
		return fmt.Sprintf("at least %d%s", *least, unit)
	case most != nil:
		return fmt.Sprintf("at most %d%s", *most, unit)
	}
	return ""
}
