// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package reference

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// ManName is the name of the man page of a command.
func ManName(c *cobra.Command) string {
	return strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
}

// Man returns the man page of a command. It has no date, so that the same command gives the
// same bytes.
func Man(c *cobra.Command) string {
	b := &strings.Builder{}
	title := strings.TrimSuffix(ManName(c), ".1")
	fmt.Fprintf(b, ".TH %q 1 \"\" \"Butler\" \"Butler\"\n", strings.ToUpper(title))
	fmt.Fprintf(b, ".SH NAME\n%s \\- %s\n", escaped(title), escaped(c.Short))
	fmt.Fprintf(b, ".SH SYNOPSIS\n.B %s\n", escaped(synopsis(c)))
	b.WriteString(".SH DESCRIPTION\n" + preformatted(text(c)))
	if all := flags(c); len(all) > 0 {
		b.WriteString(".SH OPTIONS\n")
		for _, f := range all {
			name, usage := described(f)
			fmt.Fprintf(b, ".TP\n.B %s\n%s\n", escaped(name), escaped(usage))
		}
	}
	if c.Example != "" {
		b.WriteString(".SH EXAMPLES\n" + preformatted(unindented(c.Example)))
	}
	b.WriteString(".SH SEE ALSO\n" + seeAlso(c))
	return b.String()
}

// preformatted is a text whose lines stay as they are.
func preformatted(text string) string {
	return ".nf\n" + escaped(text) + "\n.fi\n"
}

// escaped protects what troff would read as its own.
func escaped(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// seeAlso names the pages of the command above and of those below.
func seeAlso(c *cobra.Command) string {
	var names []string
	if c.HasParent() {
		names = append(names, c.Parent().CommandPath())
	}
	for _, child := range c.Commands() {
		if !child.Hidden && child.Name() != "help" {
			names = append(names, child.CommandPath())
		}
	}
	for i, n := range names {
		names[i] = `\fB` + escaped(strings.ReplaceAll(n, " ", "-")) + `\fR(1)`
	}
	return strings.Join(names, ",\n") + "\n"
}
