// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// order is one thing that shall happen.
type order struct {
	text string
	what string
	// value is what there is to know about it, and boundary when it happens.
	value, boundary string
}

// orders are all of them.
type orders []order

// form is what an order consists of besides its name.
type form struct{ value, boundary bool }

// forms are those of all orders.
func forms() map[string]form {
	all := map[string]form{
		kill: {boundary: true}, etcd: {boundary: true},
		clock: {value: true, boundary: true}, faults: {value: true, boundary: true}, hold: {value: true, boundary: true},
		fill: {value: true, boundary: true}, played: {value: true},
	}
	for _, defect := range []string{twin, double, oneAddress, restless, keepPart, leak, expose, credulous, stubborn, bootstrapTwice} {
		all[defect] = form{}
	}
	return all
}

// parse reads orders such as "kill@pivot/copy" or "clock=+1h@bootstrap/Pivoting".
func parse(text string) (all orders, err error) {
	for word := range strings.SplitSeq(strings.ReplaceAll(text, "\n", ","), ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		o := order{text: word}
		what, boundary, _ := strings.Cut(word, "@")
		o.boundary = boundary
		o.what, o.value, _ = strings.Cut(what, "=")
		if f, known := forms()[o.what]; !known || f != (form{o.value != "", o.boundary != ""}) {
			return nil, fmt.Errorf("there is no order %q; see docs/contributing/faults.md", word)
		}
		if err := o.check(); err != nil {
			return nil, fmt.Errorf("order %q: %w", word, err)
		}
		all = append(all, o)
	}
	return all, nil
}

// check reads the value, so that what uses it need not fail.
func (o order) check() (err error) {
	switch o.what {
	case clock:
		_, err = time.ParseDuration(o.value)
	case fill:
		_, err = strconv.ParseInt(o.value, 10, 64)
	}
	return err
}

func (o orders) has(what string) bool {
	return slices.ContainsFunc(o, func(one order) bool { return one.what == what })
}

// number is the value of an order that has one; 0 is none.
func (o orders) number(what string) (n int64) {
	for _, one := range o {
		if one.what == what {
			n, _ = strconv.ParseInt(one.value, 10, 64) // checked
		}
	}
	return n
}
