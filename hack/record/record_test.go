// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// shown is the text of the lines of a screen that are not empty.
func shown(s *screen) (out []string) {
	for _, line := range s.lines {
		text := ""
		for _, c := range line {
			text += c.text
		}
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}

func TestScreenShowsWhatATerminalWould(t *testing.T) {
	for reason, c := range map[string]struct {
		written []string
		want    string
	}{
		"lines":                      {[]string{"one\r\ntwo"}, "one|two"},
		"a line that is replaced":    {[]string{"… waits\r\x1b[Kdone\r\n"}, "done"},
		"a view drawn in place":      {[]string{"a\r\nb\r\nc\r\n\r\x1b[2A\x1b[Jd\r\n"}, "a|d"},
		"a page drawn in place":      {[]string{"a\r\nb\r\n\x1b[H\x1b[Jc"}, "c"},
		"a sequence in two pieces":   {[]string{"a\r\nb\r\n\x1b[", "2A\x1b[Jd"}, "d"},
		"a character in two pieces":  {[]string{"\xe2\x9c", "\x93 ok"}, "✓ ok"},
		"colours":                    {[]string{"\x1b[32m✓\x1b[0m ok"}, "✓ ok"},
		"a line that is too long":    {[]string{strings.Repeat("x", columns) + "y"}, strings.Repeat("x", columns) + "|y"},
		"a line that fits, and next": {[]string{strings.Repeat("x", columns) + "\r\ny"}, strings.Repeat("x", columns) + "|y"},
	} {
		s := &screen{}
		for _, part := range c.written {
			fmt.Fprint(s, part)
		}
		if got := strings.Join(shown(s), "|"); got != c.want {
			t.Errorf("%s: %q, want %q", reason, got, c.want)
		}
	}
}

func TestScreenScrolls(t *testing.T) {
	s := &screen{}
	for i := range rows + 2 {
		fmt.Fprintf(s, "%d\r\n", i)
	}
	if got := shown(s); len(got) != rows-1 || got[0] != "3" {
		t.Errorf("%q", got)
	}
}

func TestFilmShowsEachFrameForItsTime(t *testing.T) {
	tp := &tape{}
	for _, text := range []string{"\x1b[31m  first & <last>\x1b[0m", "", "\r\nsecond"} { // the one in the middle changes nothing
		fmt.Fprint(&tp.screen, text)
		tp.take()
	}
	if len(tp.frames) != 2 {
		t.Fatalf("%d frames", len(tp.frames))
	}
	tp.frames[0].shown, tp.frames[1].shown = 3*time.Second, time.Second
	got := film(tp.frames)
	for _, want := range []string{"0.000%{transform:translateY(0px)}75.000%{transform:translateY(-432px)}", "film 4.0s", `<tspan x="16.8" textLength="117.6" fill="#e06c75">first &amp; &lt;last&gt;<`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if n := strings.Count(got, "first"); n != 1 {
		t.Errorf("a line of two frames is written %d times", n)
	}
	for d := xml.NewDecoder(strings.NewReader(got)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
