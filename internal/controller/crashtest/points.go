// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package crashtest

import (
	"fmt"
	"slices"
	"strings"
)

// crash is what a reconciler dies of.
type crash struct{}

// points counts the places where a reconciler can die, and lets it die at some.
type points struct {
	deadly []int // in ascending order, counted from 1 over the whole life
	passed int
	trace  []string
	wrong  []string
}

// at counts a point and reports whether the reconciler is to die there.
func (p *points) at(name string) bool {
	p.passed++
	dies := slices.Contains(p.deadly, p.passed)
	if dies {
		name += " ✗"
	}
	p.trace = append(p.trace, name)
	return dies
}

// reach counts a point, checks what must hold at every one, and may not return.
func (p *points) reach(name string, check func() string) {
	dies := p.at(name)
	if sentence := check(); sentence != "" {
		p.violate("%s", sentence)
	}
	if dies {
		panic(crash{})
	}
}

// note adds to the trace what happens outside the reconciler.
func (p *points) note(what string) { p.trace = append(p.trace, "["+what+"]") }

func (p *points) violate(format string, args ...any) {
	p.wrong = append(p.wrong, fmt.Sprintf(format, args...)+" after: "+strings.Join(p.trace, ", "))
}
