// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/internal/diagnosis"
)

// PrintChain writes the way from a symptom to its cause, each link below the one before.
func PrintChain(w io.Writer, c diagnosis.Chain, now time.Time) error {
	out := &strings.Builder{}
	for i, l := range c.Links {
		printLink(out, l, i, now)
	}
	if c.Healthy {
		block(out, 0, c.Summary)
	} else {
		fmt.Fprintf(out, "\ncause: %s\n", c.Cause)
		block(out, 2, c.Summary)
		if len(c.Remedies) > 0 {
			fmt.Fprintln(out, "\n"+heading(c.Cause))
		}
		printRemedies(out, c.Remedies)
	}
	for _, n := range c.Notices {
		fmt.Fprintln(out)
		block(out, 0, "note: "+n)
	}
	_, err := io.WriteString(w, strings.TrimPrefix(out.String(), "\n"))
	return err
}

// printLink writes a link, indented by its place in the chain.
func printLink(out *strings.Builder, l Link, i int, now time.Time) {
	indent, mark := 2*i, ""
	if i > 0 {
		indent, mark = 2*(i-1), "└ "
	}
	words := slices.DeleteFunc([]string{l.Object, l.State, l.Reason}, func(w string) bool { return w == "" })
	head := strings.Join(words, "  ")
	if l.Since != nil && now.Sub(*l.Since) >= time.Second {
		head += "  (for " + Duration(now.Sub(*l.Since)) + ")"
	}
	fmt.Fprintln(out, strings.Repeat(" ", indent)+mark+head)
	if l.Says != "" {
		block(out, 2*i+2, l.Says)
	}
	for _, e := range l.Evidence {
		block(out, 2*i+2, "event "+e)
	}
}

// Link is one of a chain.
type Link = diagnosis.Link

// heading is the line above what to do.
func heading(c diagnosis.Cause) string {
	if c == diagnosis.InProgress {
		return "meanwhile:"
	}
	return "to fix it:"
}

func printRemedies(out *strings.Builder, all []diagnosis.Remedy) {
	for _, r := range all {
		block(out, 2, r.Do)
		if r.Command != "" {
			fmt.Fprintln(out, "    "+r.Command)
		}
	}
}

// block writes a text, wrapped and indented.
func block(out *strings.Builder, indent int, text string) {
	lead := strings.Repeat(" ", indent)
	fmt.Fprintln(out, lead+strings.Join(Wrap(text, Columns-indent), "\n"+lead))
}
