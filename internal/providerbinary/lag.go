// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providerbinary

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// Lag measures how long after a machine runs on the platform its request says so, for
// requests that are created while the binary works.
func (s Suite) Lag(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				s.lag(b, n)
			}
		})
	}
}

func (s Suite) lag(b *testing.B, n int) {
	b.StopTimer()
	f := s.waiting(b, 0, nil)
	f.startBinary(b)
	running := recordTimes(s.Running(b, f.simulator.API))
	b.StartTimer()
	f.create(b, n)
	lags := running.until(allRunning(b, f.client, n))
	b.ReportMetric(lags[len(lags)/2].Seconds(), "s-lag-p50")
	b.ReportMetric(lags[len(lags)*99/100].Seconds(), "s-lag-p99")
	b.ReportMetric(lags[len(lags)-1].Seconds(), "s-lag-max")
}

// times delivers names with the time at which they came.
type times chan namedTime

type namedTime struct {
	name string
	at   time.Time
}

func recordTimes(names <-chan string) times {
	out := make(times, 100_000)
	go func() {
		for name := range names {
			out <- namedTime{name, time.Now()}
		}
	}()
	return out
}

// until returns how long after each machine first ran its request reported it, in
// ascending order.
func (t times) until(reported map[string]time.Time) (lags []time.Duration) {
	first := map[string]time.Time{}
	for len(first) < len(reported) {
		one := <-t
		if _, known := first[one.name]; !known {
			first[one.name] = one.at
		}
	}
	for name, at := range reported {
		lags = append(lags, max(at.Sub(first[name]), 0))
	}
	slices.Sort(lags)
	return lags
}
