// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// wrongType is how the validator words a value of another type.
var wrongType = regexp.MustCompile(`must be of type (\w+): "(\w+)"`)

// describe words a refusal for people.
func (d *definition) describe(e *field.Error) finding {
	f := finding{e.Field, e.Detail}
	switch e.Type {
	case field.ErrorTypeRequired:
		f.message = "is missing, but required"
	case field.ErrorTypeNotSupported:
		f.message = unsupported(e)
	case field.ErrorTypeTypeInvalid:
		if m := wrongType.FindStringSubmatch(e.Detail); m != nil {
			f.message = fmt.Sprintf("must be of type %s, not %s", typeName(m[1]), typeName(m[2]))
		}
	case field.ErrorTypeDuplicate:
		f.message = "is a second entry of this name; remove one"
	case field.ErrorTypeInvalid:
		return d.invalid(e)
	default: // the detail says it
	}
	return f
}

// typeName is a type as a manifest knows it.
func typeName(of string) string {
	switch of {
	case "int32", "int64":
		return "integer"
	case "float32", "float64":
		return "number"
	}
	return of
}

// invalid is a value out of its range, or a rule that does not hold. The rule's
// message often begins with the field that it is about.
func (d *definition) invalid(e *field.Error) finding {
	if _, why, ok := strings.Cut(e.Detail, " in body "); ok {
		return finding{e.Field, quote(e) + why + versionMeant(e, why)}
	}
	first, rest, _ := strings.Cut(e.Detail, " ")
	path := child(e.Field, first)
	switch {
	case rest == "" || strings.HasPrefix(rest, "and "): // it is about more than one
	case strings.HasSuffix(e.Field, "."+first):
		return finding{e.Field, rest}
	case d.has(path):
		return finding{path, rest}
	}
	return finding{e.Field, e.Detail}
}

// versionMeant suggests the v that a version lacks.
func versionMeant(e *field.Error, why string) string {
	given, _ := e.BadValue.(string)
	pattern := strings.TrimSuffix(strings.TrimPrefix(why, "should match '"), "'")
	if ok, err := regexp.MatchString(pattern, "v"+given); err != nil || !ok || !strings.HasPrefix(pattern, "^v") {
		return ""
	}
	return "; did you mean v" + given + "?"
}

func unsupported(e *field.Error) string {
	list := strings.TrimPrefix(e.Detail, "supported values: ")
	text := quote(e) + "is none of " + list
	var values []string
	for quoted := range strings.SplitSeq(list, ", ") {
		if v, err := strconv.Unquote(quoted); err == nil {
			values = append(values, v)
		}
	}
	given, _ := e.BadValue.(string)
	if n := Nearest(given, values); n != "" {
		text += "; did you mean " + n + "?"
	}
	return text
}

// longest value that is repeated in a message.
const longest = 60

// quote repeats a value that is short. Patches may hold credentials and are
// never repeated.
func quote(e *field.Error) string {
	if strings.Contains(e.Field, "Patches") {
		return ""
	}
	switch v := e.BadValue.(type) {
	case string:
		if len(v) <= longest {
			return strconv.Quote(v) + " "
		}
	case int64, float64, bool:
		return fmt.Sprint(v) + " "
	}
	return ""
}
