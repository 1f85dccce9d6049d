// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/step"
)

func TestWalksOfManyClustersAreFurtherApart(t *testing.T) {
	for reason, c := range map[string]struct {
		clusters int
		since    time.Duration
		want     time.Duration
	}{
		"one cluster":                      {1, 0, share},
		"twenty clusters":                  {20, 0, 20 * share},
		"two hundred":                      {int(longestLag / share), 0, longestLag},
		"any number":                       {5000, 0, longestLag},
		"none was walked for some time":    {200, busyFor + time.Second, 0},
		"they were walked a moment before": {100, busyFor / 2, 100 * share},
	} {
		var p pace
		now := time.Now()
		for i := range c.clusters {
			for range 3 { // however often each
				p.record(types.NamespacedName{Name: strconv.Itoa(i)}, now)
			}
		}
		if got := p.lag(now.Add(c.since)); got != c.want {
			t.Errorf("%s: %v, want %v", reason, got, c.want)
		}
	}
}

func TestALookInVainComesEverLater(t *testing.T) {
	now := time.Now()
	crowd := pace{}
	for i := range 200 {
		crowd.record(types.NamespacedName{Name: strconv.Itoa(i)}, now)
	}
	for reason, c := range map[string]struct {
		since     time.Duration
		poll, few bool
		want      time.Duration
	}{
		"a change is reported":            {time.Second, false, true, upkeep},
		"for a while there was none":      {2 * upkeep, false, true, 2 * upkeep},
		"for a day there was none":        {24 * time.Hour, false, true, rareUpkeep},
		"a change is polled for":          {20 * time.Second, true, true, 250 * time.Millisecond},
		"for many clusters":               {20 * time.Second, true, false, 2 * longestLag},
		"for many, and a change is known": {time.Second, false, false, upkeep},
	} {
		r := &Reconciler{Clock: func() time.Time { return now }}
		if !c.few {
			r.pace.walked = crowd.walked
		}
		tc := &v1alpha1.TenantCluster{}
		tc.Status.Conditions = []metav1.Condition{{LastTransitionTime: metav1.NewTime(now.Add(-c.since))}}
		if got := r.pollAfter(tc, &step.Obstacle{Poll: c.poll}); got != c.want {
			t.Errorf("%s: %v, want %v", reason, got, c.want)
		}
	}
}
