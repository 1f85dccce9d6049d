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
		lifetime      provider.Lifetime
		moves, accept bool
		want          provider.Verdict
		says          string
	}{
		"they do not expire":       {moves: true},
		"the plane stays here":     {lifetime: provider.Lifetime{Temporary: true, Ends: end}},
		"the cluster takes over":   {lifetime: provider.Lifetime{Temporary: true, Ends: end}, moves: true, want: provider.Refused, says: "expire at 2030-01-02T03:04:05Z"},
		"their end is not known":   {lifetime: provider.Lifetime{Temporary: true}, moves: true, want: provider.Refused, says: "are temporary"},
		"the user accepts the end": {lifetime: provider.Lifetime{Temporary: true, Ends: end}, moves: true, accept: true, want: provider.Unknown, says: "expire at"},
	} {
		t.Run(name, func(t *testing.T) {
			o := &Operation{AcceptExpiring: c.accept}
			var got provider.Verdict
			for _, f := range o.checkLifetime(c.lifetime, c.moves) {
				got = f.Verdict
				if !strings.Contains(f.Message, c.says) || f.Hint == "" {
					t.Errorf("%+v", f)
				}
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
