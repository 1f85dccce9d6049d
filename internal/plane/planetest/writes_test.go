// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package planetest

import (
	"strings"
	"testing"
)

func TestOnlyWritesOfControllersCount(t *testing.T) {
	const metrics = `# TYPE apiserver_request_total counter
apiserver_request_total{code="200",component="apiserver",dry_run="",group="butler.butlerlabs.dev",resource="machinerequests",scope="resource",subresource="status",verb="PUT",version="v1alpha1"} 40
apiserver_request_total{code="200",component="apiserver",dry_run="",group="butler.butlerlabs.dev",resource="machinerequests",scope="cluster",subresource="",verb="LIST",version="v1alpha1"} 1
apiserver_request_total{code="409",component="apiserver",dry_run="",group="butler.butlerlabs.dev",resource="machinerequests",scope="resource",subresource="",verb="PATCH",version="v1alpha1"} 2
apiserver_request_total{code="201",component="apiserver",dry_run="",group="events.k8s.io",resource="events",scope="resource",subresource="",verb="POST",version="v1"} 1e+02
apiserver_request_total{code="200",component="apiserver",dry_run="",group="coordination.k8s.io",resource="leases",scope="resource",subresource="",verb="PUT",version="v1"} 9
apiserver_request_duration_seconds_count{group="butler.butlerlabs.dev",verb="PUT"} 7
`
	if n, err := sumWrites(strings.NewReader(metrics)); err != nil || n != 142 {
		t.Errorf("%v writes, %v", n, err)
	}
}
