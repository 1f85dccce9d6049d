// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"strings"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/provider"
)

func TestCredentialsThatExpireAreForAClusterThatStaysHere(t *testing.T) {
	end := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		end           time.Time
		moves, accept bool
		want          provider.Verdict
	}{
		"they do not expire":     {moves: true},
		"the plane stays here":   {end: end},
		"the cluster takes over": {end: end, moves: true, want: provider.Refused},
		"the user accepts it":    {end: end, moves: true, accept: true, want: provider.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			o := &Operation{AcceptExpiring: c.accept}
			var got provider.Verdict
			for _, f := range o.checkExpiry(c.end, c.moves) {
				got = f.Verdict
				if !strings.Contains(f.Message, "2030-01-02T03:04:05Z") || f.Hint == "" {
					t.Errorf("%+v", f)
				}
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
