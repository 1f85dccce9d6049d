// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/butlerdotdev/butler/internal/ui"
)

// indent is the width of the names of rows.
const indent = 12

// Render returns the documentation of a field as text.
func (all Fields) Render(f Field) string {
	b := &strings.Builder{}
	row(b, "field", f.Name())
	row(b, "type", f.Type())
	row(b, "required", map[bool]string{true: "yes", false: "no"}[f.Required])
	row(b, "default", f.Default())
	row(b, "provider", f.Provider)
	for _, rule := range f.Rules() {
		row(b, "rule", rule)
	}
	if d := f.schema.Description; d != "" {
		fmt.Fprintln(b)
		for line := range strings.SplitSeq(d, "\n") {
			fmt.Fprintln(b, strings.Join(ui.Wrap(line, ui.Columns), "\n"))
		}
	}
	all.children(b, f)
	return b.String()
}

func row(b *strings.Builder, name, text string) {
	if text == "" {
		return
	}
	lines := ui.Wrap(text, ui.Columns-indent)
	fmt.Fprintf(b, "%-*s%s\n", indent, name+":", strings.Join(lines, "\n"+strings.Repeat(" ", indent)))
}

func (all Fields) children(b *strings.Builder, f Field) {
	below := all.Children(f)
	if len(below) == 0 {
		return
	}
	width := 0
	for _, c := range below {
		width = max(width, len(c.last())+2)
	}
	fmt.Fprintln(b, "\nFIELDS (* is required)")
	for _, c := range below {
		name := c.last()
		if c.Required {
			name += "*"
		}
		lines := ui.Wrap(c.Summary(), ui.Columns-width-3)
		fmt.Fprintf(b, "  %-*s %s\n", width, name, strings.Join(lines, "\n"+strings.Repeat(" ", width+3)))
	}
}

func (f Field) last() string { return f.Path[strings.LastIndex(f.Path, ".")+1:] }

// Summary is the first sentence of the documentation.
func (f Field) Summary() string {
	text := strings.Join(strings.Fields(f.schema.Description), " ")
	if first, _, ok := strings.Cut(text, ". "); ok {
		return first + "."
	}
	return text
}

// Type returns the type of the value, with the values that a list or a map has.
func (f Field) Type() string { return typeOf(f.schema) }

func typeOf(s *apiextensionsv1.JSONSchemaProps) string {
	switch {
	case s.Items != nil && s.Items.Schema != nil:
		return "list of " + typeOf(s.Items.Schema)
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		return "map of " + typeOf(s.AdditionalProperties.Schema)
	case s.XIntOrString:
		return "integer or string"
	case s.Type == "":
		return "any"
	}
	return s.Type
}

// Default is the value that an absent field gets; empty if it gets none.
func (f Field) Default() string {
	if f.schema.Default == nil {
		return ""
	}
	return strings.Trim(string(f.schema.Default.Raw), `"`)
}

// Rules returns the constraints of a value besides its type.
func (f Field) Rules() (out []string) {
	s := f.schema
	if len(s.Enum) > 0 {
		var values []string
		for _, v := range s.Enum {
			values = append(values, strings.Trim(string(v.Raw), `"`))
		}
		out = append(out, "one of "+strings.Join(values, ", "))
	}
	limit := func(text string, n *float64) {
		if n != nil {
			out = append(out, fmt.Sprintf("%s %v", text, *n))
		}
	}
	limit("at least", s.Minimum)
	limit("at most", s.Maximum)
	count := func(text, unit string, n *int64) {
		if n != nil {
			out = append(out, fmt.Sprintf("%s %d %s", text, *n, unit))
		}
	}
	count("at least", "characters", s.MinLength)
	count("at most", "characters", s.MaxLength)
	count("at least", "entries", s.MinItems)
	count("at most", "entries", s.MaxItems)
	count("at most", "entries", s.MaxProperties)
	if s.Pattern != "" {
		out = append(out, "matches "+s.Pattern)
	}
	for _, v := range s.XValidations {
		if !slices.Contains(out, v.Message) {
			out = append(out, v.Message)
		}
	}
	return out
}
