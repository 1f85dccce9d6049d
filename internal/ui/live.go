// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

// live draws a view on a terminal: whenever it or the size of the terminal changes, and once
// a second for the times in it. The last frame stays.
type live struct {
	out  *os.File
	mu   sync.Mutex
	view View
	// shown is the frame that is on the screen.
	shown string
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
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	for {
		select {
		case <-l.stop:
			return
		case <-resized:
		case <-tick.C:
		}
		l.change(func(v View) View { return v })
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
	_, _ = io.WriteString(l.out, back(l.shown, s.Width)+over(frame))
	l.shown = frame
}

// back moves the cursor to the beginning of a text that ends where it is. A terminal that has
// become narrower than its lines has broken them.
func back(text string, width int) string {
	up := -1
	for line := range strings.SplitSeq(text, "\n") {
		up += 1 + max(ansi.StringWidth(line)-1, 0)/max(width, 1)
	}
	if up == 0 {
		return "\r"
	}
	return fmt.Sprintf("\r\x1b[%dA", up)
}

// over writes a text over another one. What is there is erased line by line: a screen that is
// erased from its beginning goes into the history of tmux.
func over(text string) string {
	return "\x1b[K" + strings.ReplaceAll(text, "\n", "\n\x1b[K") + "\x1b[J"
}

// screenOf is a terminal as it is now: it may have been resized.
func screenOf(out *os.File) Screen {
	width, height, err := term.GetSize(out.Fd())
	if err != nil || width <= 0 || height <= 0 {
		width, height = Columns, 24
	}
	return Screen{Width: min(width, Columns), Height: height, Colour: os.Getenv("NO_COLOR") == ""}
}
