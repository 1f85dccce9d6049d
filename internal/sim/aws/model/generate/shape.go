// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	maxDepth = 7  // shapes that contain themselves end here
	maxEnum  = 24 // longer lists of values are checked by the simulator itself, or not at all
)

// structure writes a line for each parameter in a structure.
func (d description) structure(b *strings.Builder, prefix string, s shape, depth int) {
	if depth > maxDepth {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.Members)) {
		m := s.Members[name]
		d.member(b, prefix+d.wireName(name, m), d.Shapes[m.Shape], slices.Contains(s.Required, name), depth)
	}
}

// wireName is the name of a member in a request.
func (d description) wireName(name string, m member) string {
	switch {
	case d.Metadata.Protocol != "ec2":
		if m.LocationName != "" {
			return m.LocationName
		}
		return name
	case m.QueryName != "":
		return m.QueryName
	case m.LocationName != "":
		return strings.ToUpper(m.LocationName[:1]) + m.LocationName[1:]
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

func (d description) member(b *strings.Builder, path string, s shape, required bool, depth int) {
	switch s.Type {
	case "structure", "list", "map":
		if required {
			fmt.Fprintf(b, "\t%s %s required\n", path, s.Type)
		}
	default:
		fmt.Fprintf(b, "\t%s %s%s\n", path, kind(s), constraints(s, required))
	}
	switch s.Type {
	case "structure":
		d.structure(b, path+".", s, depth+1)
	case "list":
		d.member(b, d.element(path, s), d.Shapes[s.Member.Shape], false, depth+1)
	case "map":
		d.member(b, path+".entry.N.key", d.Shapes[s.Key.Shape], false, depth+1)
		d.member(b, path+".entry.N.value", d.Shapes[s.Value.Shape], false, depth+1)
	}
}

// element is the path of the elements of a list.
func (d description) element(path string, s shape) string {
	if d.Metadata.Protocol != "query" || s.Flattened {
		return path + ".N"
	}
	if s.Member.LocationName != "" {
		return path + "." + s.Member.LocationName + ".N"
	}
	return path + ".member.N"
}

func kind(s shape) string {
	switch s.Type {
	case "integer", "long":
		return "int"
	case "boolean":
		return "bool"
	case "timestamp":
		return "time"
	case "double", "float":
		return "float"
	}
	return s.Type
}

func constraints(s shape, required bool) (out string) {
	if required {
		out += " required"
	}
	if s.Min != nil {
		out += fmt.Sprintf(" min=%.0f", *s.Min)
	}
	if s.Max != nil {
		out += fmt.Sprintf(" max=%.0f", *s.Max)
	}
	if len(s.Enum) > 0 && len(s.Enum) <= maxEnum {
		out += " enum=" + strings.Join(s.Enum, "|")
	}
	return out
}
