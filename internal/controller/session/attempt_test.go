// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// silent does not answer until the context ends.
type silent struct {
	connects atomic.Int32
	answers  atomic.Bool
}

func (d *silent) connect(ctx context.Context, _ provider.Config) (provider.Platform, error) {
	d.connects.Add(1)
	if d.answers.Load() {
		return provider.Platform{}, nil
	}
	<-ctx.Done()
	return provider.Platform{}, &provider.Error{Kind: provider.Unavailable, Reason: "TimedOut", Op: "connect", Err: ctx.Err()}
}

// answered is the reason of the answer, and how long it took.
func answered(t *testing.T, s *Sessions, c *v1alpha1.ProviderConfig) (string, time.Duration) {
	t.Helper()
	began := time.Now()
	_, err := s.Platform(t.Context(), c)
	if err == nil {
		return "", time.Since(began)
	}
	return provider.ReasonOf(err), time.Since(began)
}

func TestAPlatformThatDoesNotAnswerDelaysNoCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &silent{}
		s, _ := sessions(t, &driver{}, secret("a"))
		s.provider.Connect = d.connect
		if reason, took := answered(t, s, config()); reason != reasonConnecting || took != patience {
			t.Errorf("the first who asks gets %s after %s", reason, took)
		}
		if reason, took := answered(t, s, config()); reason != reasonConnecting || took != 0 {
			t.Errorf("the second gets %s after %s", reason, took)
		}
		time.Sleep(connectTimeout)
		for range 2 { // of the last Connect, then while the next one is under way
			if reason, took := answered(t, s, config()); reason != "TimedOut" || took != 0 {
				t.Errorf("later the answer is %s after %s", reason, took)
			}
			time.Sleep(errorKept)
		}
		if n := d.connects.Load(); n != 2 {
			t.Errorf("%d connects", n)
		}
		d.answers.Store(true)
		time.Sleep(connectTimeout)
		answered(t, s, config())
		synctest.Wait()
		if reason, _ := answered(t, s, config()); reason != "" {
			t.Errorf("a platform that answers again is %s", reason)
		}
		s.stop()
	})
}

func TestAllShareOneConnectAndOnlyThoseOfItsPlatform(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &silent{}
		s, _ := sessions(t, &driver{}, secret("a"))
		s.provider.Connect = func(ctx context.Context, c provider.Config) (provider.Platform, error) {
			if c.Name == "healthy" {
				return provider.Platform{}, nil
			}
			return d.connect(ctx, c)
		}
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() { _, _ = s.Platform(t.Context(), config()) })
		}
		healthy := config()
		healthy.Name = "healthy"
		if reason, took := answered(t, s, healthy); reason != "" || took != 0 {
			t.Errorf("the healthy one answers %s after %s", reason, took)
		}
		all.Wait()
		if n := d.connects.Load(); n != 1 {
			t.Errorf("%d connects", n)
		}
		s.stop()
	})
}

func TestWhatIsForgottenWhileItConnectsIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, open := &driver{}, make(chan struct{})
		s, _ := sessions(t, d, secret("a"))
		s.provider.Connect = func(ctx context.Context, c provider.Config) (provider.Platform, error) {
			<-open
			return d.connect(ctx, c)
		}
		answered(t, s, config())
		s.Forget(client.ObjectKeyFromObject(config()))
		close(open)
		synctest.Wait()
		if d.connected != 1 || d.closed != 1 {
			t.Errorf("%+v", d)
		}
	})
}
