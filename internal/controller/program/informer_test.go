// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
)

// TestAnInformerWorksAgainAsSoonAsTheAPIServerDoes: after an outage the informers of
// client-go wait for up to a minute.
func TestAnInformerWorksAgainAsSoonAsTheAPIServerDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const outage = 5 * time.Minute
		began := time.Now()
		i := newInformer(&toolscache.ListWatch{
			ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
				if time.Since(began) < outage {
					return nil, errors.New("connection refused")
				}
				return &corev1.SecretList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				if time.Since(began) < outage {
					return nil, apierrors.NewServiceUnavailable("not now")
				}
				if o.SendInitialEvents != nil {
					return nil, apierrors.NewBadRequest("not supported: list first")
				}
				w := watch.NewFake()
				context.AfterFunc(ctx, w.Stop)
				return w, nil
			},
		}, &corev1.Secret{}, 0, nil)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); i.RunWithContext(ctx) }()
		for !i.HasSynced() {
			if time.Sleep(100 * time.Millisecond); time.Since(began) > outage+3*time.Second {
				t.Error("it does not work yet, 3 s after the API server does")
				break
			}
		}
		cancel()
		<-ended
	})
}

func TestARefusalIsAnAnswer(t *testing.T) {
	n := 0
	ask := persist(func(context.Context, metav1.ListOptions) (int, error) {
		n++
		return 0, apierrors.NewForbidden(corev1.Resource("secrets"), "", errors.New("no"))
	})
	if _, err := ask(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) || n != 1 {
		t.Errorf("%v after %d requests", err, n)
	}
}
