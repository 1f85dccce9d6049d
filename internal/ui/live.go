// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/term"
)

// live draws a view on a terminal: whenever it changes, and once a second for
// the times in it. The last frame stays.
type live struct {
	out  *os.File
	mu   sync.Mutex
	view View
	// lines of the frame that is on the screen.
	lines int
	stop  chan struct{}
	ended sync.WaitGroup
}

// terminal is the terminal behind a writer, if it can move its cursor.
func terminal(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	if kind := os.Getenv("TERM"); !ok || kind == "" || kind == "dumb" {
		return nil, false
	}
	return f, term.IsTerminal(f.Fd())
}

func newLive(out *os.File, v View) *live {
	l := &live{out: out, view: v, stop: make(chan struct{})}
	l.ended.Go(l.run)
	return l
}

func (l *live) run() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-tick.C:
			l.change(func(v View) View { return v })
		}
	}
}

// change draws the view that f makes of the present one.
func (l *live) change(f func(View) View) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.view = f(l.view)
	// A view without a phase has nothing to show.
	if l.view.Phase != "" {
		l.draw(screenOf(l.out))
	}
}

// end draws the view for the last time, in full, and leaves it.
func (l *live) end(o Outcome) {
	close(l.stop)
	l.ended.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.view = l.view.Ended(o, time.Now())
	if l.view.Phase != "" {
		s := screenOf(l.out)
		s.Height = 0
		l.draw(s)
	}
}

func (l *live) draw(s Screen) {
	frame := Render(l.view, s, time.Now())
	erase := ""
	if l.lines > 0 {
		erase = fmt.Sprintf("\r\x1b[%dA\x1b[J", l.lines)
	}
	l.lines = strings.Count(frame, "\n")
	_, _ = io.WriteString(l.out, erase+frame)
}

// screenOf is a terminal as it is now: it may have been resized.
func screenOf(out *os.File) Screen {
	width, height, err := term.GetSize(out.Fd())
	if err != nil || width <= 0 || height <= 0 {
		width, height = Columns, 24
	}
	return Screen{Width: min(width, Columns), Height: height, Colour: os.Getenv("NO_COLOR") == ""}
}
