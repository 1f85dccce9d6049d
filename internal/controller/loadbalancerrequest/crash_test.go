// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package loadbalancerrequest

import (
	"context"
	"testing"
	"time"

	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/crashtest"
	"github.com/butlerdotdev/butler/internal/controller/session"
)

var (
	atOnce = crashtest.Behaviour{}
	hard   = crashtest.Behaviour{Lag: 2 * time.Second, Settle: 4 * time.Second, Halves: true}
)

func subject() crashtest.Subject {
	return crashtest.Subject{
		New: func() client.Object {
			l := &v1alpha1.LoadBalancerRequest{Spec: v1alpha1.LoadBalancerRequestSpec{ClusterName: "mgmt", Targets: targets("a", "b")}}
			l.Spec.ProviderConfigRef.Name = crashtest.ConfigName
			return l
		},
		Reconciler: func(c client.Client, s *session.Sessions, now func() time.Time) crashtest.Reconciler {
			r := &reconciler{Kind: loadBalancers(), Client: c, Type: v1alpha1.ProviderHarvester, Sessions: s, Events: &events.FakeRecorder{}, Clock: now}
			return func(ctx context.Context, o client.Object) (reconcile.Result, error) {
				return r.Reconcile(ctx, o.(*v1alpha1.LoadBalancerRequest))
			}
		},
		Done: func(o client.Object) bool {
			s := o.(*v1alpha1.LoadBalancerRequest).Status
			return s.Phase == v1alpha1.LoadBalancerFailed || s.Phase == v1alpha1.LoadBalancerReady && s.RegisteredTargets == 2
		},
	}
}

func TestDeathAtAnyPointLeavesOneLoadBalancerAndThenNone(t *testing.T) {
	for i, b := range crashtest.Sampled([]crashtest.Behaviour{hard, atOnce}, 1) {
		t.Run([]string{"parts, and late", "shown at once"}[i], func(t *testing.T) {
			t.Parallel()
			l := crashtest.New(t, api, subject(), b)
			l.Crashes()
			l.Report(t, 50, 1000)
		})
	}
}

func TestTwoDeathsLeaveOneLoadBalancerAndThenNone(t *testing.T) {
	l := crashtest.New(t, api, subject(), hard)
	l.CrashPairs(20, crashtest.Seed(t))
	l.Report(t, 21, 500)
}

func TestStaleReadsLeaveOneLoadBalancerAndThenNone(t *testing.T) {
	l := crashtest.New(t, api, subject(), hard)
	l.StaleReads(3)
	l.Report(t, 25, 500)
}

func TestCopiesLeaveTheLoadBalancerToItsRequest(t *testing.T) {
	l := crashtest.New(t, api, subject(), hard)
	l.Copies()
	l.Report(t, 5, 100)
}

func TestWhatGoesUnseenLeavesOneLoadBalancerAndThenNone(t *testing.T) {
	l := crashtest.New(t, api, subject(), hard)
	l.Unseen()
	l.Report(t, 15, 200)
}
