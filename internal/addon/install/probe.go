// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"time"
)

// probe says when to look again at something that is not ready. It asks often
// again whenever something has moved.
type probe struct {
	wait time.Duration // 0: only when woken
	seen string
}

func newProbe() *probe { return &probe{wait: firstProbe} }

// after notes what was seen.
func (p *probe) after(seen string) {
	if p.wait == 0 || seen != p.seen {
		p.wait = firstProbe
	} else {
		p.wait = min(2*p.wait, lastProbe)
	}
	p.seen = seen
}

// rest looks again only when woken.
func (p *probe) rest() { p.wait, p.seen = 0, "" }

// await returns when it is time, when it was woken, or when ctx ends.
func (p *probe) await(ctx context.Context, wake <-chan struct{}) {
	var due <-chan time.Time
	if p.wait > 0 {
		timer := time.NewTimer(p.wait)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
	case <-due:
	case <-wake:
	}
}
