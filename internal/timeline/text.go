// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"fmt"
	"io"
	"strings"
	"time"
)

const (
	columns = 80 // of a page
	names   = 26 // of the column of names
	times   = 8  // of the column of times
)

// Text writes a timeline as bars: # is work on the critical path, = other work, . waiting.
func (t Timeline) Text(w io.Writer) error {
	out := &strings.Builder{}
	fmt.Fprintf(out, "%s: %s, %s after its begin\n\n", t.Cluster, t.outcome(), seconds(t.End.Sub(t.Begin)))
	for _, r := range t.Rows {
		if r.Kind == KindWait || r.Kind == KindPhase {
			for _, s := range r.Spans {
				if r.Kind == KindPhase {
					t.line(out, s.State, []Span{s}, r.Kind)
				}
			}
			continue
		}
		t.line(out, r.Name, r.Spans, r.Kind)
	}
	fmt.Fprint(out, "\n# critical path   = other work   . waits for others\n")
	_, err := io.WriteString(w, out.String())
	return err
}

func (t Timeline) outcome() string {
	if t.Ready {
		return "Ready"
	}
	return "not Ready yet"
}

func (t Timeline) line(out *strings.Builder, name string, spans []Span, kind Kind) {
	bar := []byte(strings.Repeat(" ", columns-names-times-2))
	work := time.Duration(0)
	for _, s := range spans {
		mark, counts := markOf(kind, s)
		if counts {
			work += s.End.Sub(s.Begin)
		}
		from, to := t.place(s.Begin, len(bar)), t.place(s.End, len(bar))
		for i := from; i <= to && i < len(bar) && mark != 0; i++ {
			bar[i] = mark
		}
	}
	if len(name) > names-1 {
		name = name[:names-2] + "…"
	}
	fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%-*s %*s  %s", names-1, name, times-1, seconds(work), bar), " "))
}

// markOf is how a span is drawn, and whether its time counts as work.
func markOf(kind Kind, s Span) (mark byte, counts bool) {
	switch {
	case kind == KindPhase:
		return '-', true
	case s.Critical:
		return '#', true
	case works(kind, s.State):
		return '=', true
	case s.State == stateReady:
		return 0, false
	}
	return '.', false
}

// place is where a time is on a bar.
func (t Timeline) place(at time.Time, width int) int {
	total := t.End.Sub(t.Begin)
	if total <= 0 {
		return 0
	}
	return min(int(float64(width)*float64(at.Sub(t.Begin))/float64(total)), width-1)
}

func seconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
}
