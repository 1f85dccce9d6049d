// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// The size of the recorded terminal.
const (
	rows    = 24
	columns = 80
)

// look is how a character is drawn: a colour of the terminal, or 0, and its weight.
type look struct {
	colour    int
	bold, dim bool
}

type cell struct {
	text string
	look
}

// screen is what a terminal shows. It knows the sequences that butleradm writes.
type screen struct {
	lines    [rows][]cell
	row, col int
	look     look
	rest     []byte // the beginning of a sequence
}

// Write shows a piece of output. Sequences may be split between pieces.
func (s *screen) Write(data []byte) (int, error) {
	for s.rest = append(s.rest, data...); len(s.rest) > 0; {
		seq, width, n, state := ansi.DecodeSequence(s.rest, ansi.NormalState, nil)
		if state != ansi.NormalState || !utf8.FullRune(s.rest) {
			break
		}
		s.show(string(seq), width)
		s.rest = s.rest[n:]
	}
	return len(data), nil
}

func (s *screen) show(seq string, width int) {
	switch {
	case width > 0:
		s.put(seq, width)
	case seq == "\r":
		s.col = 0
	case seq == "\n":
		s.feed()
	case strings.HasPrefix(seq, "\x1b["):
		s.control(seq[len("\x1b["):len(seq)-1], seq[len(seq)-1])
	}
}

func (s *screen) put(text string, width int) {
	if s.col+width > columns {
		s.col = 0
		s.feed()
	}
	line := s.lines[s.row]
	for len(line) < s.col+1 {
		line = append(line, cell{text: " "})
	}
	line[s.col] = cell{text, s.look}
	s.lines[s.row] = line
	s.col += width
}

// feed moves to the next line; the last one scrolls the others up.
func (s *screen) feed() {
	if s.row < rows-1 {
		s.row++
		return
	}
	copy(s.lines[:], s.lines[1:])
	s.lines[rows-1] = nil
}

// control runs a control sequence: the cursor up or home, erase, colours.
func (s *screen) control(parameters string, final byte) {
	n, _ := strconv.Atoi(parameters) // none is 0
	switch final {
	case 'A':
		s.row = max(s.row-max(n, 1), 0)
	case 'H':
		s.row, s.col = 0, 0
	case 'K':
		s.erase()
	case 'J':
		s.erase()
		clear(s.lines[s.row+1:])
	case 'm':
		for code := range strings.SplitSeq(parameters, ";") {
			s.paint(code)
		}
	}
}

func (s *screen) erase() { s.lines[s.row] = s.lines[s.row][:min(s.col, len(s.lines[s.row]))] }

func (s *screen) paint(code string) {
	switch n, _ := strconv.Atoi(code); {
	case n == 0:
		s.look = look{}
	case n == 1:
		s.look.bold = true
	case n == 2:
		s.look.dim = true
	case n >= 30 && n <= 37, n >= 90 && n <= 97:
		s.look.colour = n
	}
}

// frame returns what the screen shows now.
func (s *screen) frame() (f frame) {
	for i, line := range s.lines {
		f.text[i] = draw(line)
	}
	return f
}
