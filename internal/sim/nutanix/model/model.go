// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package model has the fields of the bodies that the simulated Prism Central reads, and
// checks requests against them. The table is generated from the vendor's description.
package model

import (
	_ "embed"
	"maps"
	"slices"
	"strconv"
	"strings"
)

//go:generate go run ./generate -out table.txt

//go:embed table.txt
var table string

// Model is all schemas.
type Model struct {
	schemas map[string]map[string]field
}

// field is a field of a schema.
type field struct {
	// kind is string, integer, number, boolean or any; $NAME is a schema, []KIND a list,
	// {}KIND a map.
	kind     string
	required bool
	values   []string // nil: any
	form     string   // uuid, mac or ip; empty: any
	max      int      // length; 0: any
	min      *int
}

// Load returns the model of the generated table.
func Load() *Model {
	m := &Model{schemas: map[string]map[string]field{}}
	var current map[string]field
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "\t"):
			current[words[0]] = parse(words[1:])
		case words[0] == "schema":
			current = map[string]field{}
			m.schemas[words[1]] = current
		}
	}
	for name, more := range later() {
		maps.Copy(m.schemas[name], more)
	}
	return m
}

// later are fields that newer releases show in a spec, and so accept back: recorded from
// pc.2024.3.
func later() map[string]map[string]field {
	return map[string]map[string]field{
		"vm_resources": {"cpu_hotplug_enabled": {kind: "boolean"}, "scsi_controller_enabled": {kind: "boolean"}},
	}
}

func parse(words []string) field {
	f := field{kind: words[0], required: slices.Contains(words, "required")}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "enum":
			f.values = strings.Split(value, "|")
		case "form":
			f.form = value
		case "max":
			f.max, _ = strconv.Atoi(value) // was written as a number
		case "min":
			n, _ := strconv.Atoi(value)
			f.min = &n
		}
	}
	return f
}
