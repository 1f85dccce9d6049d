// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package proxmox

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// schema describes parameters, or the parts of an option, by name.
type schema struct {
	fields     map[string]*field
	defaultKey string // that a value without a key belongs to
}

// field is one parameter. A field with an alias is another name of that one.
type field struct {
	name     string
	kind     string // string, integer, number, boolean
	format   string // of strings: a key of formats, or of optionSchemas
	required bool
	requires string
	alias    string
	keyAlias string // the field that takes the name itself
	enum     []string
	pattern  *regexp.Regexp
	min, max *float64
	longest  int
}

// parseSchema reads a table: a line for each field, with its name, a mark (! for required,
// * for the default key) and its type: a kind, enum:A|B, re:PATTERN, a format, or =FIELD for
// an alias. Integers and numbers may have a range, strings max=LENGTH; needs=FIELD names the
// field that has to be there too.
func parseSchema(tables ...string) *schema {
	s := &schema{fields: map[string]*field{}}
	for line := range strings.SplitSeq(strings.Join(tables, "\n"), "\n") {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		f := &field{name: strings.TrimRight(words[0], "!*"), kind: "string"}
		f.required = strings.Contains(words[0], "!")
		if strings.HasSuffix(words[0], "*") {
			s.defaultKey = f.name
		}
		for _, word := range words[1:] {
			f.read(word)
		}
		s.fields[f.name] = f
	}
	return s
}

func (f *field) read(word string) {
	key, value, _ := strings.Cut(word, ":")
	switch {
	case key == "integer" || key == "number":
		f.kind = key
		f.readRange(value)
	case key == "boolean" || key == "string":
		f.kind = key
	case key == "enum":
		f.enum = strings.Split(value, "|")
	case key == "re":
		f.pattern = regexp.MustCompile("^(?:" + value + ")$")
	case strings.HasPrefix(word, "max="):
		f.longest, _ = strconv.Atoi(word[len("max="):])
	case strings.HasPrefix(word, "needs="):
		f.requires = word[len("needs="):]
	case strings.HasPrefix(word, "=") && strings.Contains(word, "/"):
		f.keyAlias, f.alias, _ = strings.Cut(word[1:], "/")
	case strings.HasPrefix(word, "="):
		f.alias = word[1:]
	case word == "guest-id":
		f.kind, f.format = "integer", word
		f.readRange("100..999999999")
	default:
		f.format = word
	}
}

func (f *field) readRange(text string) {
	low, high, found := strings.Cut(text, "..")
	if !found {
		return
	}
	if v, err := strconv.ParseFloat(low, 64); err == nil {
		f.min = &v
	}
	if v, err := strconv.ParseFloat(high, 64); err == nil {
		f.max = &v
	}
}

// with returns a schema that has the fields of another one too.
func (s *schema) with(other *schema) *schema {
	out := &schema{fields: map[string]*field{}, defaultKey: s.defaultKey}
	maps.Copy(out.fields, other.fields)
	maps.Copy(out.fields, s.fields)
	return out
}

// problems are what is wrong, by parameter.
type problems map[string]string

func (p problems) add(path, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if before := p[path]; before != "" {
		text = before + `\n` + text
	}
	p[path] = text
}

const unknownProperty = "property is not defined in schema and the schema does not allow additional properties"

// check adds what is wrong with values. It is called with a path for the parts of an option.
func (s *schema) check(path string, values map[string]string, wrong problems) {
	at := func(name string) string {
		if path == "" {
			return name
		}
		return path + "." + name
	}
	for name, f := range s.fields {
		if _, set := values[name]; !set && f.required {
			wrong.add(at(name), "property is missing and it is not optional")
		}
	}
	for name, value := range values {
		f := s.fields[name]
		if f == nil || f.alias != "" {
			wrong.add(at(name), unknownProperty)
			continue
		}
		if f.requires != "" {
			if _, set := values[f.requires]; !set {
				wrong.add(at(f.requires), "missing property required by '%s'", at(name))
			}
		}
		f.check(at(name), value, wrong)
	}
}

// check adds what is wrong with one value.
func (f *field) check(path, value string, wrong problems) {
	number, isNumber := 0.0, false
	if v, err := strconv.ParseFloat(value, 64); err == nil && numeric.MatchString(value) {
		number, isNumber = v, true
	}
	switch {
	case f.kind == "boolean" && value != "0" && value != "1",
		f.kind == "integer" && !whole.MatchString(value),
		f.kind == "number" && !isNumber:
		wrong.add(path, "type check ('%s') failed - got '%s'", f.kind, value)
		return
	}
	if f.format != "" {
		if err := checkFormat(f.format, path, value); err != "" {
			wrong.add(path, "invalid format - %s", err)
			return
		}
	}
	switch {
	case f.pattern != nil && !f.pattern.MatchString(value):
		wrong.add(path, "value does not match the regex pattern")
	case f.longest > 0 && len(value) > f.longest:
		wrong.add(path, "value may only be %d characters long", f.longest)
	case isNumber && f.max != nil && number > *f.max:
		wrong.add(path, "value must have a maximum value of %s", plainNumber(*f.max))
	case isNumber && f.min != nil && number < *f.min:
		wrong.add(path, "value must have a minimum value of %s", plainNumber(*f.min))
	case len(f.enum) > 0 && !slices.Contains(f.enum, value):
		wrong.add(path, "value '%s' does not have a value in the enumeration '%s'", value, strings.Join(f.enum, ", "))
	}
}

var (
	whole   = regexp.MustCompile(`^[+-]?\d+$`)
	numeric = regexp.MustCompile(`^[+-]?\d+(\.\d+)?$`)
)

func plainNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
