// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
)

// askAgain is the pause before an API server that cannot be reached is asked again.
const askAgain = time.Second

// newInformer returns an informer that works again as soon as the API server does.
// By itself it would wait for up to a minute after an outage of some minutes.
func newInformer(from toolscache.ListerWatcher, kind runtime.Object, resync time.Duration, by toolscache.Indexers) toolscache.SharedIndexInformer {
	if l, ok := from.(*toolscache.ListWatch); ok {
		l.ListWithContextFunc = persist(l.ListWithContextFunc)
		l.WatchFuncWithContext = persist(l.WatchFuncWithContext)
	}
	return toolscache.NewSharedIndexInformer(from, kind, resync, by)
}

// persist asks until an API server answers.
func persist[T any](ask func(context.Context, metav1.ListOptions) (T, error)) func(context.Context, metav1.ListOptions) (T, error) {
	return func(ctx context.Context, o metav1.ListOptions) (T, error) {
		for {
			answer, err := ask(ctx, o)
			if err == nil || !unreachable(err) {
				return answer, err
			}
			select {
			case <-ctx.Done():
				return answer, err
			case <-time.After(askAgain):
			}
		}
	}
}

// unreachable reports whether an error is no answer of an API server that works.
func unreachable(err error) bool {
	return apierrors.ReasonForError(err) == metav1.StatusReasonUnknown || apierrors.IsServiceUnavailable(err)
}
