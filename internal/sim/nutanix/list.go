// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package nutanix

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// The length of a page: the usual one, and the longest.
const (
	defaultLength = 20
	maxLength     = 500
)

func getEntity(c *call) (any, error) {
	e := c.st.get(c.route.kind, c.params[0])
	if e == nil {
		return nil, notFound(c.route.kind, c.params[0])
	}
	return c.show(e), nil
}

// listEntities lists what exists and can be seen.
func listEntities(c *call) (any, error) {
	fits, err := c.filter()
	if err != nil {
		return nil, err
	}
	all := slices.DeleteFunc(c.st.all(c.route.kind), func(e *entity) bool { return c.now.Before(e.Visible) || !fits(e) })
	if err := c.sort(all); err != nil {
		return nil, err
	}
	part, err := page(c, all)
	if err != nil {
		return nil, err
	}
	entities := []any{}
	for _, e := range part {
		shown := c.show(e)
		delete(shown, "api_version")
		entities = append(entities, shown)
	}
	return object{"api_version": apiVersion, "metadata": c.listMetadata(len(part), len(all)), "entities": entities}, nil
}

// listMetadata echoes a list request, with what was found.
func (c *call) listMetadata(length, total int) object {
	out := object{"kind": c.route.kind, "offset": c.body.num("offset"), "length": length, "total_matches": total}
	for _, key := range []string{"filter", "sort_attribute", "sort_order"} {
		if c.body.has(key) {
			out[key] = c.body[key]
		}
	}
	return out
}

// page returns the part of a list that a request asks for.
func page[T any](c *call, all []T) ([]T, error) {
	length := defaultLength
	if c.body.has("length") {
		length = c.body.num("length")
	}
	if length > maxLength {
		return nil, invalid("length", "%d is greater than the maximum of %d", length, maxLength)
	}
	from := min(c.body.num("offset"), len(all))
	if c.route.kind == kindHost {
		return all, nil // all hosts are in one page
	}
	return all[from:min(from+length, len(all))], nil
}

func (c *call) sort(all []*entity) error {
	attribute := cmp.Or(c.body.str("sort_attribute"), "name")
	if attribute != "name" && attribute != "vm_name" {
		return invalid("sort_attribute", "Sorting by '%s' is not supported", attribute)
	}
	if c.body.has("sort_attribute") {
		slices.SortStableFunc(all, func(a, b *entity) int { return cmp.Compare(a.name(), b.name()) })
	}
	if c.body.str("sort_order") == "DESCENDING" {
		slices.Reverse(all)
	}
	return nil
}

// attributes are those that lists of a kind can be filtered by.
func attributes(kind string) map[string]func(*entity) string {
	name := func(e *entity) string { return e.name() }
	out := map[string]func(*entity) string{
		"uuid": func(e *entity) string { return e.UUID }, "name": name,
		"cluster_uuid": func(e *entity) string { return e.Spec.sub("cluster_reference").str("uuid") },
	}
	switch kind {
	case kindVM:
		delete(out, "name")
		out["vm_name"], out["power_state"] = name, func(e *entity) string { return e.resources().str("power_state") }
	case kindUser:
		out["username"] = name
	}
	return out
}

// filter returns the filter of a list request: comparisons, joined by ; (and) or , (or).
// Values are regular expressions of the whole attribute.
func (c *call) filter() (func(*entity) bool, error) {
	text := c.body.str("filter")
	if text == "" {
		return func(*entity) bool { return true }, nil
	}
	var either []func(*entity) bool
	for part := range strings.SplitSeq(text, ",") {
		var every []func(*entity) bool
		for one := range strings.SplitSeq(part, ";") {
			fits, err := comparison(c.route.kind, one)
			if err != nil {
				return nil, err
			}
			every = append(every, fits)
		}
		either = append(either, func(e *entity) bool {
			return !slices.ContainsFunc(every, func(fits func(*entity) bool) bool { return !fits(e) })
		})
	}
	return func(e *entity) bool {
		return slices.ContainsFunc(either, func(fits func(*entity) bool) bool { return fits(e) })
	}, nil
}

func comparison(kind, text string) (func(*entity) bool, error) {
	name, value, equal := strings.Cut(text, "==")
	if !equal {
		var differs bool
		if name, value, differs = strings.Cut(text, "!="); !differs {
			return nil, invalid("filter", "Invalid filter expression: '%s'", text)
		}
	}
	attribute, known := attributes(kind)[strings.Trim(name, "() ")]
	if !known {
		return nil, invalid("filter", "Filtering by attribute '%s' is not supported for kind '%s'", name, kind)
	}
	value = strings.Trim(value, "() ")
	pattern, err := regexp.Compile("^(?:" + value + ")$")
	return func(e *entity) bool {
		have := attribute(e)
		return (have == value || err == nil && pattern.MatchString(have)) == equal
	}, nil
}
