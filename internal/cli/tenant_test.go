// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const exampleTenant = "../../configs/examples/tenant-harvester.yaml"

// expectTenant creates the example on a management cluster by the commands of its guide, and
// removes it.
func expectTenant(t *testing.T, a adm, cluster string) {
	t.Helper()
	a = adm{t, a.path, a.home}
	before := len(a.uids(cluster, virtualMachines))
	if r := a.ok("tenant", "create", cluster, "-f", exampleTenant); !strings.Contains(r.err, "tenant cluster web is Ready") {
		t.Errorf("create said\n%s", r.err)
	}
	if got := strings.Fields(a.ok("tenant", "list", cluster).out); !strings.Contains(strings.Join(got, " "), "butler-tenants web Ready v1.31.0 2/2") {
		t.Errorf("listed: %v", got)
	}
	nodes, err := kubernetes.NewForConfigOrDie(a.config([]byte(a.ok("tenant", "kubeconfig", cluster, "web").out))).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 2 || !isReady(nodes.Items[0]) || !isReady(nodes.Items[1]) {
		t.Errorf("the tenant cluster has %d nodes: %v", len(nodes.Items), err)
	}
	a.run("destroy", cluster, "--yes").expect(t, 2, "TenantCluster butler-tenants/web")
	if r := a.ok("tenant", "delete", cluster, "web", "--yes"); !strings.Contains(r.err, "tenant cluster web is deleted") {
		t.Errorf("delete said\n%s", r.err)
	}
	if after := len(a.uids(cluster, virtualMachines)); after != before {
		t.Errorf("%d machines, before the tenant cluster %d", after, before)
	}
}
