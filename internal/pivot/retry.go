// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pivot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// final is an error that a retry does not change.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

func finalf(format string, args ...any) error { return final{fmt.Errorf(format, args...)} }

func isFinal(err error) bool {
	if _, ok := errors.AsType[final](err); ok {
		return true
	}
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsMethodNotSupported(err) || apierrors.IsRequestEntityTooLargeError(err)
}

// isRefusal reports whether an error is a refusal of the move itself.
func isRefusal(err error) bool {
	_, ok := errors.AsType[final](err)
	return ok && !errors.Is(err, errChanged)
}

// retry calls do until it succeeds, fails permanently, or has failed for the patience of
// the move. do reads and writes again each time.
func (r *run) retry(ctx context.Context, do func() error) error {
	var until time.Time
	pause := 10 * time.Millisecond
	for {
		err := do()
		if err == nil || isFinal(err) || ctx.Err() != nil {
			return err
		}
		switch {
		case r.patience == 0:
		case until.IsZero():
			until = time.Now().Add(r.patience)
		case time.Now().After(until):
			return err
		}
		if wait(ctx, pause) != nil {
			return err
		}
		pause = min(2*pause, time.Second)
	}
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// refused is the error of an API server about an object, without its content.
type refused struct {
	did string
	o   ref
	on  string
	err error
}

func (e *refused) Error() string {
	return fmt.Sprintf("%s %s on %s: %s", e.did, e.o, e.on, said(e.o.Kind, e.err))
}

func (e *refused) Unwrap() error { return e.err }

// said is an API server's answer. What it found invalid it repeats, which may be
// long, or a key; of Secrets only the reason is reported, and the policy that
// denied.
func said(kind string, err error) string {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		return err.Error()
	}
	policy := deniedBy(status)
	if kind == secretKind {
		return strings.Join(append([]string{string(status.ErrStatus.Reason)}, policy...), ": ")
	}
	if status.ErrStatus.Details == nil || len(status.ErrStatus.Details.Causes) == 0 || len(policy) > 0 {
		return err.Error()
	}
	var causes []string
	for _, c := range status.ErrStatus.Details.Causes {
		message := c.Message[strings.LastIndex(c.Message, ": ")+1:]
		causes = append(causes, c.Field+": "+strings.TrimSpace(message))
	}
	return strings.Join(causes, "; ")
}

// deniedBy returns what an answer says of the admission policies that denied, without
// their messages: those may quote the object.
func deniedBy(status *apierrors.StatusError) (out []string) {
	if status.ErrStatus.Details == nil {
		return nil
	}
	for _, c := range status.ErrStatus.Details.Causes {
		if policy, _, ok := strings.Cut(c.Message, " denied request: "); ok && c.Field == "" {
			out = append(out, "denied by "+policy)
		}
	}
	return out
}
