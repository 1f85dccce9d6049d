// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// Measures of the picture, in pixels.
const (
	charWidth  = 8.4
	lineHeight = 18
	margin     = 14
	pageWidth  = columns*charWidth + 2*margin
	pageHeight = rows*lineHeight + 2*margin
)

// colours are those of the terminal, by their codes.
var colours = map[int]string{
	31: "#e06c75", 32: "#98c379", 33: "#e5c07b", 34: "#61afef", 35: "#c678dd", 36: "#56b6c2", 37: "#dcdfe4",
	90: "#7f848e", 91: "#e06c75", 92: "#98c379", 93: "#e5c07b", 94: "#61afef", 95: "#c678dd", 96: "#56b6c2", 97: "#ffffff",
}

// frame is what the terminal shows for a while.
type frame struct {
	text  [rows]string // of lines, as SVG
	shown time.Duration
}

// film is a strip of frames, of which the picture shows one at a time.
func film(frames []frame) string {
	out := &strings.Builder{}
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 %.0f %d" width="%.0f" height="%d" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14">`+"\n",
		pageWidth, pageHeight, pageWidth, pageHeight)
	fmt.Fprintf(out, "<style>%s</style>\n", style(frames))
	fmt.Fprintf(out, `<rect width="100%%" height="100%%" rx="6" fill="#21252b"/>`+"\n")
	ids := lines(out, frames)
	fmt.Fprintf(out, `<svg x="%d" y="%d" width="%.0f" height="%d"><g class="film" fill="#dcdfe4">`+"\n", margin, margin, pageWidth-2*margin, rows*lineHeight)
	for i, f := range frames {
		for row, text := range f.text {
			if text != "" {
				fmt.Fprintf(out, `<use href="#%s" y="%d"/>`, ids[text], (i*rows+row)*lineHeight)
			}
		}
		out.WriteString("\n")
	}
	out.WriteString("</g></svg>\n</svg>\n")
	return out.String()
}

// style moves the strip from frame to frame, for ever. Where no motion is wanted, it stays at the last.
func style(frames []frame) string {
	var total, at time.Duration
	for _, f := range frames {
		total += f.shown
	}
	steps := &strings.Builder{}
	for i, f := range frames {
		fmt.Fprintf(steps, "%.3f%%{transform:translateY(%dpx)}", 100*at.Seconds()/total.Seconds(), -i*rows*lineHeight)
		at += f.shown
	}
	last := -(len(frames) - 1) * rows * lineHeight
	return fmt.Sprintf("@keyframes film{%s}.film{transform:translateY(%dpx);animation:film %.1fs steps(1,end) infinite}@media(prefers-reduced-motion){.film{animation:none}}text{white-space:pre}",
		steps, last, total.Seconds())
}

// lines defines each line that frames have, once, and returns their names.
func lines(out *strings.Builder, frames []frame) map[string]string {
	ids := map[string]string{}
	out.WriteString("<defs>\n")
	for _, f := range frames {
		for _, text := range f.text {
			if text == "" || ids[text] != "" {
				continue
			}
			ids[text] = fmt.Sprintf("l%d", len(ids))
			fmt.Fprintf(out, `<text id="%s" y="%d">%s</text>`+"\n", ids[text], lineHeight-4, text)
		}
	}
	out.WriteString("</defs>\n")
	return ids
}

// draw returns a line as SVG: a span for each run of characters that look alike, with its place
// and length, as the font of the reader may be wider.
func draw(line []cell) string {
	out := &strings.Builder{}
	for i := 0; i < len(line); {
		end := i
		run := &strings.Builder{}
		for ; end < len(line) && line[end].look == line[i].look; end++ {
			run.WriteString(line[end].text)
		}
		text := run.String()
		if seen := strings.TrimSpace(text); seen != "" {
			at := i + strings.Index(text, seen) // what is before it is spaces
			fmt.Fprintf(out, `<tspan x="%.1f" textLength="%.1f"%s>%s</tspan>`, float64(at)*charWidth, float64(ansi.StringWidth(seen))*charWidth, attributes(line[i].look), escaped(seen))
		}
		i = end
	}
	return out.String()
}

func attributes(l look) (out string) {
	if colour := colours[l.colour]; colour != "" {
		out += ` fill="` + colour + `"`
	}
	if l.bold {
		out += ` font-weight="bold"`
	}
	if l.dim {
		out += ` opacity="0.6"`
	}
	return out
}

func escaped(text string) string {
	b := &strings.Builder{}
	_ = xml.EscapeText(b, []byte(text)) // to a text
	return b.String()
}
