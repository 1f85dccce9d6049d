// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"strings"
	"testing"
)

const (
	exampleCloud   = "../../configs/examples/aws-single-node.yaml"
	exampleCloudHA = "../../configs/examples/aws-ha.yaml"
)

// TestCloudRehearsal creates the HA example from outside of the cloud's network: private
// addresses do not answer here, the load balancer does.
func TestCloudRehearsal(t *testing.T) {
	a := newAdm(t)
	a.ok("bootstrap", "aws", "-c", exampleCloudHA, "--rehearse")
	expectSelfManaged(t, a, "butler-mgmt")
	if out := a.ok("status", "butler-mgmt").out; !strings.Contains(out, ".elb.eu-central-1.amazonaws.com\n") {
		t.Errorf("the endpoint is no name of a load balancer:\n%s", out)
	}
	zones := map[string]bool{}
	for _, n := range a.nodes("butler-mgmt") {
		if !strings.HasPrefix(n.Spec.ProviderID, "aws:///eu-central-1") || len(n.Spec.Taints) > 1 {
			t.Errorf("node %s has the provider ID %q and the taints %v", n.Name, n.Spec.ProviderID, n.Spec.Taints)
		}
		zones[n.Labels["topology.kubernetes.io/zone"]] = true
	}
	if len(zones) != 3 {
		t.Errorf("the nodes are in the zones %v", zones)
	}
	a.ok("destroy", "butler-mgmt", "--yes").expectLedger(t,
		"created 25, deleted 25, left 0: 6 machines, 9 disks, 1 load balancer, 6 network interfaces, 1 security group, 2 target groups")
}
