// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package model has the parameters of the operations that the simulated AWS serves, and
// checks requests against them. The tables are generated from the service descriptions.
package model

import (
	"bufio"
	"embed"
	"path"
	"strconv"
	"strings"
)

//go:generate go run ./generate -out tables

//go:embed tables/*.txt
var tables embed.FS

// Service is the operations of one service.
type Service struct {
	// Name is the name in a credential scope, Version that of the API.
	Name, Version string
	Operations    map[string]Operation
}

// Operation has the parameters of an operation by path, with N for the index of a list.
type Operation map[string]Parameter

// Parameter is what is known about one parameter.
type Parameter struct {
	Kind     string // string, int, bool, time, float, blob, list, structure or map
	Required bool
	// Min and Max limit a number, or the length of a string; nil: no limit.
	Min, Max *int64
	Values   []string // nil: any
}

// Services returns all services by name.
func Services() (map[string]Service, error) {
	files, err := tables.ReadDir("tables")
	if err != nil {
		return nil, err
	}
	out := map[string]Service{}
	for _, f := range files {
		raw, err := tables.ReadFile("tables/" + f.Name())
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(path.Base(f.Name()), ".txt")
		out[name] = parse(name, string(raw))
	}
	return out, nil
}

func parse(name, table string) Service {
	s := Service{Name: name, Operations: map[string]Operation{}}
	var current Operation
	for lines := bufio.NewScanner(strings.NewReader(table)); lines.Scan(); {
		line := lines.Text()
		fields := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "#"):
		case fields[0] == "version":
			s.Version = fields[1]
		case strings.HasPrefix(line, "\t"):
			current[fields[0]] = parameter(fields[1:])
		default:
			current = Operation{}
			s.Operations[fields[0]] = current
		}
	}
	return s
}

func parameter(fields []string) Parameter {
	p := Parameter{Kind: fields[0]}
	for _, f := range fields[1:] {
		key, value, _ := strings.Cut(f, "=")
		switch key {
		case "required":
			p.Required = true
		case "min":
			p.Min = number(value)
		case "max":
			p.Max = number(value)
		case "enum":
			p.Values = strings.Split(value, "|")
		}
	}
	return p
}

func number(s string) *int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return nil
	}
	return &n
}
