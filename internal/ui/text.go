// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// Wrap breaks a text into lines of a width. A word that is longer stays whole,
// so that a path can be copied. What a platform says may hold line breaks and
// control sequences; both go.
func Wrap(text string, width int) []string {
	out := []string{""}
	for word := range strings.FieldsSeq(ansi.Strip(text)) {
		last := &out[len(out)-1]
		switch {
		case *last == "":
			*last = word
		case ansi.StringWidth(*last)+1+ansi.StringWidth(word) <= width:
			*last += " " + word
		default:
			out = append(out, word)
		}
	}
	return out
}

// fold is Wrap for a screen that has no room for long words.
func fold(text string, width int) (out []string) {
	for _, line := range Wrap(text, width) {
		out = append(out, strings.Split(ansi.Hardwrap(line, max(width, 1), true), "\n")...)
	}
	return out
}

// foldTo is fold for a number of lines; the last one shows what was cut off.
func foldTo(text string, width, most int) []string {
	lines := fold(text, width)
	if len(lines) > most {
		lines = append(lines[:most-1], Clip(strings.Join(lines[most-1:], " "), width))
	}
	return lines
}

// hang is a wrapped text whose further lines are indented.
func hang(text string, width, indent int) string {
	return strings.Join(Wrap(text, width), "\n"+strings.Repeat(" ", indent))
}

// Clip cuts a text to a width and shows that.
func Clip(text string, width int) string { return ansi.Truncate(text, max(width, 0), "…") }

// pad fills a text up to a width.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}

// Duration is a time that has passed, as short as people say it.
func Duration(d time.Duration) string {
	s := int(d / time.Second)
	switch {
	case s < 0:
		return "0s"
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	}
	return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
}
