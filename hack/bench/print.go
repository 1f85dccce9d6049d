// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strconv"
)

// printer prints the table, a row as soon as it is known.
type printer struct{ out io.Writer }

func (p printer) head() {
	fmt.Fprintf(p.out, "%-45s %9s %-7s %7s %6s\n", "measure", "value", "", "target", "ratio")
}

// row marks what is worse than it was, and a target that is not met.
func (p printer) row(m measure, t taken) {
	target, ratio, mark := "", "new", ""
	if m.target != 0 {
		target = number(m.target)
	}
	if t.Ratio != 0 {
		ratio = number(t.Ratio)
	}
	if !m.met(t.Value) {
		target += "*"
	}
	if t.Ratio != 0 && m.worse(t.Ratio) {
		mark = "!"
	}
	fmt.Fprintf(p.out, "%-45s %9s %-7s %7s %6s%s\n", m.name, number(t.Value), m.unit, target, ratio, mark)
}

func (p printer) failed(name string, err error) {
	fmt.Fprintf(p.out, "%s failed: %v\n", name, err)
}

// number has three digits that count.
func number(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 1 || v == 0:
		return strconv.FormatFloat(v, 'f', 2, 64)
	default:
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
}
