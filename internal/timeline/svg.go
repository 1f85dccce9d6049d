// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

// Measures of the picture, in pixels.
const (
	pageWidth  = 900
	leftWidth  = 190
	rowHeight  = 18
	headHeight = 48
	barHeight  = 12
)

// The colours of the picture; the page has a background of its own, for dark pages.
const (
	colourCritical = "#d1495b"
	colourWork     = "#3d7ea6"
	colourWait     = "#d9d9d9"
	colourPhase    = "#8fb8a8"
	colourText     = "#222222"
)

// SVG writes a timeline as a picture.
func (t Timeline) SVG(w io.Writer) error {
	out := &strings.Builder{}
	lines := t.lines()
	height := headHeight + rowHeight*len(lines) + 34
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n", pageWidth, height, pageWidth, height)
	fmt.Fprintf(out, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", pageWidth, height)
	text(out, 12, 20, colourText, fmt.Sprintf("%s: %s after %s", t.Cluster, t.outcome(), seconds(t.End.Sub(t.Begin))))
	t.ticks(out, height-30)
	for i, l := range lines {
		y := headHeight + rowHeight*i
		text(out, 12, y+barHeight-2, colourText, l.name)
		for _, s := range l.spans {
			t.bar(out, y, l.kind, s)
		}
	}
	legend(out, height-10)
	fmt.Fprintln(out, "</svg>")
	_, err := io.WriteString(w, out.String())
	return err
}

// drawn is a row of the picture; each phase has its own.
type drawn struct {
	name  string
	kind  Kind
	spans []Span
}

func (t Timeline) lines() (out []drawn) {
	for _, r := range t.Rows {
		switch r.Kind {
		case KindPhase:
			for _, s := range r.Spans {
				out = append(out, drawn{s.State, r.Kind, []Span{s}})
			}
		case KindWait:
		case KindMachine, KindAddon:
			out = append(out, drawn{r.Name, r.Kind, r.Spans})
		}
	}
	return out
}

func (t Timeline) bar(out *strings.Builder, y int, kind Kind, s Span) {
	colour := colourWait
	switch mark, _ := markOf(kind, s); mark {
	case 0:
		return
	case '#':
		colour = colourCritical
	case '=':
		colour = colourWork
	case '-':
		colour = colourPhase
	}
	from, to := t.x(s.Begin), t.x(s.End)
	fmt.Fprintf(out, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"><title>%s %.1fs</title></rect>`+"\n",
		from, y, max(to-from, 1), barHeight, colour, escaped(s.State), s.Seconds())
}

func (t Timeline) x(at time.Time) float64 {
	total := t.End.Sub(t.Begin).Seconds()
	if total <= 0 {
		return leftWidth
	}
	return leftWidth + (pageWidth-leftWidth-12)*at.Sub(t.Begin).Seconds()/total
}

// ticks draws about ten lines for the time.
func (t Timeline) ticks(out *strings.Builder, bottom int) {
	total := t.End.Sub(t.Begin)
	step := time.Second
	for _, s := range []int{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600} {
		if step = time.Duration(s) * time.Second; total/step <= 12 {
			break
		}
	}
	for at := time.Duration(0); at <= total; at += step {
		x := t.x(t.Begin.Add(at))
		fmt.Fprintf(out, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#eeeeee"/>`+"\n", x, headHeight-6, x, bottom)
		text(out, int(x), headHeight-10, "#777777", seconds(at))
	}
}

func legend(out *strings.Builder, y int) {
	x := leftWidth
	for _, l := range [][2]string{{colourCritical, "critical path"}, {colourWork, "other work"}, {colourWait, "waits for others"}, {colourPhase, "phase"}} {
		fmt.Fprintf(out, `<rect x="%d" y="%d" width="10" height="10" fill="%s"/>`+"\n", x, y-9, l[0])
		text(out, x+14, y, colourText, l[1])
		x += 120
	}
}

func text(out *strings.Builder, x, y int, colour, s string) {
	fmt.Fprintf(out, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", x, y, colour, escaped(s))
}

func escaped(s string) string {
	b := &strings.Builder{}
	_ = xml.EscapeText(b, []byte(s)) // to a text
	return b.String()
}
