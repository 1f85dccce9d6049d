// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

// kind says how the values of two runs compare.
type kind int

const (
	// work is a time that ends sooner on a faster machine. Less is better.
	work kind = iota
	// rate is what a faster machine does more of in a second. More is better.
	rate
	// cost is a count, a size, or a time that timers determine: the same on every
	// machine. Less is better.
	cost
)

// measure is a row of the table.
type measure struct {
	name string
	unit string
	kind kind
	// target is the value that is aimed at; 0 means that there is none.
	target float64
	// margin is how much worse than the committed value it may be: 0.25 is a quarter.
	margin float64
	// experiment takes the measure, and key is its name there.
	experiment, key string
	// over has the measures whose quotient this one is, instead of an experiment.
	over [2]string
}

// met reports whether a value reaches the target.
func (m measure) met(value float64) bool {
	switch {
	case m.target == 0:
		return true
	case m.kind == rate:
		return value >= m.target
	default:
		return value <= m.target
	}
}

// ratio is how much worse a value is than that of an earlier run, for machines of the same
// speed: 1 is the same, 2 is twice as slow, as many, or as large.
func (m measure) ratio(now, before taken) float64 {
	switch m.kind {
	case work:
		return quotient(now.Value*now.Speed, before.Value*before.Speed)
	case rate:
		return quotient(before.Value/before.Speed, now.Value/now.Speed)
	default:
		return quotient(now.Value, before.Value)
	}
}

// muchMore is the quotient of something and nothing.
const muchMore = 1000

func quotient(a, b float64) float64 {
	switch {
	case a == b:
		return 1
	case b == 0:
		return muchMore
	default:
		return a / b
	}
}

// worse reports whether a ratio is beyond the margin.
func (m measure) worse(ratio float64) bool { return ratio > 1+m.margin }
