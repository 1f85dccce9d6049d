// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/butlerdotdev/butler/internal/sim/aws/model"
	"github.com/butlerdotdev/butler/internal/sim/aws/policy"
	"github.com/butlerdotdev/butler/internal/sim/table"
)

// maxFilterValues is how many values a request may have in all its filters.
const maxFilterValues = 200

// values are those of an object by the names of filters. Names that an object has no value
// for are in it too, so that unknown ones are noticed.
type values map[string][]string

// tagged adds the tags of an object.
func (v values) tagged(t tags) values {
	v["tag-key"] = nil
	for key, value := range t {
		v["tag:"+key] = []string{value}
		v["tag-key"] = append(v["tag-key"], key)
	}
	return v
}

// filtered returns the objects that all filters of the request fit.
func filtered[T any](c *call, all []*T, of func(*T) values) ([]*T, error) {
	filters := c.params.Each("Filter")
	count := 0
	for _, f := range filters {
		count += len(f.List("Value"))
		name := f.String("Name")
		if _, known := of(new(T))[name]; !known && !strings.HasPrefix(name, "tag:") {
			return nil, refuse("InvalidParameterValue", "The filter '%s' is invalid", name)
		}
	}
	if count > maxFilterValues {
		return nil, refuse("FilterLimitExceeded", "The maximum number of filter values specified on a single call is %d", maxFilterValues)
	}
	var out []*T
	for _, o := range all {
		has := of(o)
		if !slices.ContainsFunc(filters, func(f model.Params) bool { return !fits(f, has) }) {
			out = append(out, o)
		}
	}
	return out, nil
}

func fits(filter model.Params, has values) bool {
	for key, pattern := range filter {
		if !strings.HasPrefix(key, "Value.") {
			continue
		}
		if slices.ContainsFunc(has[filter["Name"]], func(v string) bool { return policy.Match(pattern, v) }) {
			return true
		}
	}
	return false
}

// pages says how a list is divided.
type pages struct {
	size, token string // names of the parameters
	least, most int    // limits of the size
	otherwise   int    // size where the request has none; 0: everything
}

func ec2Pages(most int) pages {
	return pages{size: "MaxResults", token: "NextToken", least: 5, most: most}
}

// page returns a part of a list, and the token of the next part if there is one.
func page[T any](c *call, p pages, all []T) (part []T, next any, err error) {
	size := c.params.Int(p.size, p.otherwise)
	if c.params.Has(p.size) && (size < p.least || size > p.most) {
		return nil, nil, refuse(pageCode(c.service), "Value ( %d ) for parameter maxResults is invalid. Expecting a value from %d to %d.", size, p.least, p.most)
	}
	from := 0
	if token := c.params.String(p.token); token != "" {
		if from, err = c.readToken(token); err != nil || from > len(all) {
			return nil, nil, refuse(pageCode(c.service), "Unable to parse pagination token")
		}
	}
	all = all[from:]
	if size == 0 || len(all) <= size {
		return all, nil, nil
	}
	return all[:size], base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s %d", c.operation, from+size)), nil
}

func (c *call) readToken(token string) (int, error) {
	raw, err := base64.StdEncoding.DecodeString(token)
	if err != nil {
		return 0, err
	}
	operation, from, _ := strings.Cut(string(raw), " ")
	if operation != c.operation {
		return 0, fmt.Errorf("the token is of %s", operation)
	}
	return strconv.Atoi(from)
}

func pageCode(service string) string {
	if service == ec2 {
		return "InvalidParameterValue"
	}
	return "ValidationError"
}

// described answers a Describe operation with a page of the objects that all filters fit.
func described[T any](c *call, element string, p pages, all []*T, of func(*T) values, show func(*T) fields) (fields, error) {
	found, err := filtered(c, all, of)
	if err != nil {
		return nil, err
	}
	part, next, err := page(c, p, found)
	if err != nil {
		return nil, err
	}
	return fields{element, items(list(part, show)), "nextToken", next}, nil
}

// named returns the objects that the request names by ID, or all.
func named[T any](c *call, t *table.Table[T], parameter string, missing func(ids []string) error) ([]*T, error) {
	ids := c.params.List(parameter)
	if len(ids) == 0 {
		return t.All(), nil
	}
	var out []*T
	var unknown []string
	for _, id := range ids {
		if o := t.ByID[id]; o != nil {
			out = append(out, o)
		} else {
			unknown = append(unknown, id)
		}
	}
	if len(unknown) > 0 {
		return nil, missing(unknown)
	}
	return out, nil
}
