// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providerbinary

import (
	"testing"

	"github.com/butlerdotdev/butler/internal/plane/planetest"
)

// writes is how many requests the API server has had that change what controllers write:
// objects of this project and events. It counts itself, so that nothing is in between.
func (f *fixture) writes(t testing.TB) float64 {
	t.Helper()
	n, err := planetest.Writes(t.Context(), f.plane.Config())
	Must(t, err)
	return n
}
