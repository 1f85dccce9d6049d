// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
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
