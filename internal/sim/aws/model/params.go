// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"slices"
	"strconv"
	"strings"
)

// Params are the parameters of a request by path, such as Filter.1.Name.
type Params map[string]string

// String returns a parameter; empty if it is missing.
func (p Params) String(path string) string { return p[path] }

// Has reports whether a parameter, or one below it, is present.
func (p Params) Has(path string) bool {
	if _, found := p[path]; found {
		return true
	}
	for key := range p {
		if strings.HasPrefix(key, path+".") {
			return true
		}
	}
	return false
}

// Int returns a number, or what it is by default.
func (p Params) Int(path string, otherwise int) int {
	n, err := strconv.Atoi(p[path])
	if err != nil {
		return otherwise
	}
	return n
}

// Bool returns a truth, or what it is by default.
func (p Params) Bool(path string, otherwise bool) bool {
	b, err := strconv.ParseBool(p[path])
	if err != nil {
		return otherwise
	}
	return b
}

// List returns the strings of a list, in its order.
func (p Params) List(path string) (out []string) {
	for _, i := range p.indices(path) {
		if value, found := p[path+"."+strconv.Itoa(i)]; found {
			out = append(out, value)
		}
	}
	return out
}

// Each returns the elements of a list of structures, in its order.
func (p Params) Each(path string) (out []Params) {
	for _, i := range p.indices(path) {
		out = append(out, p.Sub(path+"."+strconv.Itoa(i)))
	}
	return out
}

// Sub returns the parameters of a structure.
func (p Params) Sub(path string) Params {
	out := Params{}
	for key, value := range p {
		if rest, found := strings.CutPrefix(key, path+"."); found {
			out[rest] = value
		}
	}
	return out
}

func (p Params) indices(path string) (out []int) {
	for key := range p {
		rest, found := strings.CutPrefix(key, path+".")
		if !found {
			continue
		}
		index, _, _ := strings.Cut(rest, ".")
		if i, err := strconv.Atoi(index); err == nil {
			out = append(out, i)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Keys returns the paths of all parameters in order.
func (p Params) Keys() (out []string) {
	for key := range p {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}
