// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// cost is the sum, and in full what it consists of.
func (w *page) cost(c Cost, d Detail) {
	if d == Full && len(c.Charges) > 0 {
		w.line("")
		w.table(charges(c.Charges))
	}
	text := c.Note
	if c.PerMonth != "" {
		text = fmt.Sprintf("%s %s per month of %d hours; %s", c.Currency, c.PerMonth, c.HoursPerMonth, c.Note)
	}
	w.row("cost", text)
	w.row("prices", source(c))
}

// source is where prices are from, and of when.
func source(c Cost) string {
	if c.Source == "" {
		return ""
	}
	text := c.Source
	if c.Simulated {
		text += ", simulated: the figures are invented"
	}
	text += "; asked " + day(c.Asked)
	if from := oldest(c.Charges); !from.IsZero() {
		text += ", valid since " + day(from) + " or later"
	}
	return text
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// oldest is the earliest date from which a price is valid.
func oldest(all []Charge) (first time.Time) {
	for _, c := range all {
		if !c.Since.IsZero() && (first.IsZero() || c.Since.Before(first)) {
			first = c.Since
		}
	}
	return first
}

// charges are rows whose numbers are aligned at the right.
func charges(all []Charge) [][]string {
	rows := [][]string{{"CHARGE", "KIND", "QUANTITY", "PRICE", "SINCE", "PER MONTH"}}
	for _, c := range all {
		row := []string{c.Name, c.Kind, strings.TrimSpace(fmt.Sprint(c.Quantity, " ", c.Unit)), "", "", c.PerMonth}
		if c.Price != "" {
			row[3] = c.Currency + " " + c.Price + "/" + c.Per
		}
		if !c.Since.IsZero() {
			row[4] = day(c.Since)
		}
		rows = append(rows, row)
	}
	alignRight(rows, len(rows[0])-1)
	return rows
}

func alignRight(rows [][]string, column int) {
	widest := len(slices.MaxFunc(rows, func(a, b []string) int { return len(a[column]) - len(b[column]) })[column])
	for _, row := range rows {
		row[column] = fmt.Sprintf("%*s", widest, cmp.Or(row[column], "-"))
	}
}
