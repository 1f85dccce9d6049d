// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package reference

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

func sample() *cobra.Command {
	run := func(*cobra.Command, []string) {}
	root := &cobra.Command{Use: "tool", Short: "Do things", Run: run}
	do := &cobra.Command{Use: "do THING", Short: "Do a thing", Long: "Do a thing.\n\n  tool do x\n\n.Dots are text.", Example: "  tool do x\n  tool do y", Run: run}
	do.Flags().StringP("out", "o", "plain", "`FORMAT`: a|b")
	do.Flags().Bool("yes", false, "do not ask")
	do.Flags().String("secret", "", "not for users")
	_ = do.Flags().MarkHidden("secret")
	root.AddCommand(do, &cobra.Command{Use: "hidden", Hidden: true, Run: run})
	return root
}

func TestThePageHasEveryCommandAndFlag(t *testing.T) {
	got := Markdown(sample())
	for _, want := range []string{
		"| [`tool do`](#tool-do) | Do a thing |\n", "## tool do\n\n```\ntool do THING\n```\n", "```\ntool do x\n```\n", "```\ntool do x\ntool do y\n```\n",
		"| `-o, --out FORMAT` | FORMAT: a\\|b (default plain) |\n", "| `--yes` | do not ask |\n", "[`tool completion bash`](#tool-completion-bash)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	for _, absent := range []string{"hidden", "secret", "--help` |", "tool help"} {
		if strings.Contains(got, absent) {
			t.Errorf("%q is in\n%s", absent, got)
		}
	}
}

func TestAManPageIsTroff(t *testing.T) {
	want := `.TH "TOOL-DO" 1 "" "Butler" "Butler"
.SH NAME
tool\-do \- Do a thing
.SH SYNOPSIS
.B tool do THING
.SH DESCRIPTION
.nf
Do a thing.

  tool do x

\&.Dots are text.
.fi
.SH OPTIONS
.TP
.B \-o, \-\-out FORMAT
FORMAT: a|b (default plain)
.TP
.B \-\-yes
do not ask
.SH EXAMPLES
.nf
tool do x
tool do y
.fi
.SH SEE ALSO
\fBtool\fR(1)
`
	if diff := cmp.Diff(want, Man(Commands(sample())[len(Commands(sample()))-1])); diff != "" {
		t.Error(diff)
	}
}
