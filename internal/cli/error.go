// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/butlerdotdev/butler/internal/failure"
)

// errTimeout is the cause of a context that --timeout has ended.
var errTimeout = errors.New("timed out")

// interrupted returns an error with the exit code for the end of its context, if
// that has ended.
func interrupted(ctx context.Context, err error) error {
	switch {
	case err == nil || ctx.Err() == nil:
		return err
	case errors.Is(context.Cause(ctx), errTimeout):
		if !errors.Is(err, errTimeout) {
			err = fmt.Errorf("%w: %w", errTimeout, err)
		}
		return failure.New(failure.TimedOut, err)
	}
	return failure.New(failure.Interrupted, errors.New("interrupted"))
}
