// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const events = `{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA/sub","Output":"    a_test.go:1: broken\n"}
{"Action":"fail","Package":"p","Test":"TestA/sub","Elapsed":2}
{"Action":"fail","Package":"p","Test":"TestA","Elapsed":2.5}
{"Action":"output","Package":"p","Test":"TestB","Output":"=== RUN   TestB\n"}
{"Action":"pass","Package":"p","Test":"TestB","Elapsed":61}
{"Action":"pass","Package":"p","Test":"TestC","Elapsed":0.1}
{"Action":"output","Package":"p","Output":"FAIL\n"}
not an event
{"Action":"pass","Package":"q","Test":"TestD","Elapsed":7}
{"Action":"output","Package":"q","Output":"PASS\n"}
{"Action":"output","Package":"q","Output":"ok  \tq\t(cached)\n"}
{"Action":"fail","Package":"p","Elapsed":64}
`

func TestReport(t *testing.T) {
	const slowest = `
slowest tests:
   61.0 s  TestB  p
    2.5 s  TestA  p
`
	for reason, c := range map[string]struct {
		verbose bool
		want    string
	}{
		"output of failed tests only": {false, "=== RUN   TestA\n    a_test.go:1: broken\nFAIL\nnot an event\nok  \tq\t(cached)\n" + slowest},
		"everything":                  {true, "=== RUN   TestA\n    a_test.go:1: broken\n=== RUN   TestB\nFAIL\nnot an event\nPASS\nok  \tq\t(cached)\n" + slowest},
	} {
		t.Run(reason, func(t *testing.T) {
			out := &strings.Builder{}
			report(strings.NewReader(events), c.verbose, out)
			if diff := cmp.Diff(c.want, out.String()); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestTheExitCodeOfTheCommandIsReturned(t *testing.T) {
	if err := run([]string{"false"}, &strings.Builder{}); err == nil {
		t.Error("a failed command is reported as a success")
	}
}
