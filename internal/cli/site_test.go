// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"regexp"
	"strings"
	"testing"
)

// site is a provider whose examples are rehearsed.
type site struct {
	provider string
	cluster  string         // of the HA example
	endpoint *regexp.Regexp // of its control planes
	nodeID   string         // how provider IDs of nodes begin
	zones    int            // of its nodes; those without a zone count as one
	// What the HA example and the single-node one create.
	ha, single string
}

// clouds are rehearsed from outside of their networks: private addresses do not answer here,
// the load balancer does.
func clouds() []site {
	return []site{
		{
			"aws", "butler-mgmt", regexp.MustCompile(`endpoint: .*\.elb\.eu-central-1\.amazonaws\.com\n`), "aws:///eu-central-1", 3,
			"25: 6 machines, 9 disks, 1 load balancer, 6 network interfaces, 1 security group, 2 target groups",
			"7: 1 machine, 1 disk, 1 load balancer, 1 network interface, 1 security group, 2 target groups",
		},
		{
			"gcp", "butler-prod", regexp.MustCompile(`endpoint: +34\.`), "gce://butler-example/europe-west3-", 3,
			"23: 6 machines, 6 disks, 1 address, 2 backend services, 1 firewall rule, 2 forwarding rules, 2 health checks, 3 instance groups",
			"12: 1 machine, 2 disks, 1 address, 2 backend services, 1 firewall rule, 2 forwarding rules, 2 health checks, 1 instance group",
		},
		{
			"azure", "butler-mgmt", regexp.MustCompile(`endpoint: +[0-9.]+\n`), "azure:///subscriptions/3f2c8a51-7d0e-4b6a-9c1d-5e8f7a2b4c60/resourceGroups/butler/", 3,
			"24: 6 machines, 9 disks, 1 address, 1 load balancer, 6 network interfaces, 1 security rule",
			"6: 1 machine, 1 disk, 1 address, 1 load balancer, 1 network interface, 1 security rule",
		},
	}
}

// onPrem are the platforms beside Harvester whose networks are reached from here.
func onPrem() []site {
	return []site{
		{"proxmox", "butler-mgmt", regexp.MustCompile(`endpoint: +10\.40\.0\.200`), "proxmox://", 1, "18: 6 machines, 12 disks", "3: 1 machine, 2 disks"},
		{"nutanix", "butler-mgmt", regexp.MustCompile(`endpoint: +10\.40\.0\.200`), "nutanix://", 1, "6: 6 machines", "1: 1 machine"},
	}
}

func (c site) example(topology string) string {
	return "../../configs/examples/" + c.provider + "-" + topology + ".yaml"
}

// ledger is the account of what was created, or found, and is gone.
func (c site) ledger(verb, counts string) string {
	number, kinds, _ := strings.Cut(counts, ":")
	return verb + " " + number + ", deleted " + number + ", left 0:" + kinds
}

// expectProviderIDs expects that the platform's controller manager has initialized all nodes.
func (c site) expectProviderIDs(t *testing.T, a adm, cluster string) {
	t.Helper()
	for _, n := range a.nodes(cluster) {
		if !strings.HasPrefix(n.Spec.ProviderID, c.nodeID) || len(n.Spec.Taints) > 1 {
			t.Errorf("node %s has the provider ID %q and the taints %v", n.Name, n.Spec.ProviderID, n.Spec.Taints)
		}
	}
}

// TestRehearsals creates the single nodes, one of them in a network without DHCP; the tests
// with the tag rehearsals create the HA clusters. That of Harvester is in TestHARehearsal.
func TestRehearsals(t *testing.T) {
	for _, c := range append(clouds(), onPrem()...) {
		t.Run(c.provider, func(t *testing.T) {
			t.Parallel()
			a := newAdm(t)
			if c.provider == "proxmox" {
				c.rehearsePooled(t, a)
				return
			}
			a.ok("bootstrap", c.provider, "-c", c.example("single-node"), "--rehearse")
			c.expectProviderIDs(t, a, "dev-cluster")
			a.ok("destroy", "dev-cluster", "--yes").expectLedger(t, c.ledger("created", c.single))
		})
	}
}

// rehearsePooled creates the single-node example with addresses of a NetworkPool, and removes
// it: the node has the address that the platform was given, and gets no other one.
func (c site) rehearsePooled(t *testing.T, a adm) {
	t.Helper()
	manifest := file(t, "pooled.yaml", edited(t, c.example("single-node"),
		"  "+c.provider+":\n", "  network: {mode: ipam, poolRefs: [{name: lan}], gateway: 10.40.0.1, timeServers: [10.40.0.3]}\n  "+c.provider+":\n",
		"    vip: \"10.40.0.200\"\n", "")+pool)
	a.ok("bootstrap", c.provider, "-c", manifest, "--rehearse")
	for _, n := range a.nodes("dev-cluster") {
		if len(n.Status.Addresses) == 0 || n.Status.Addresses[0].Address != "10.40.0.38" {
			t.Errorf("node %s has %v", n.Name, n.Status.Addresses)
		}
	}
	out := strings.Join(strings.Fields(a.ok("status", "dev-cluster").out), " ")
	for _, want := range []string{"endpoint: 10.40.0.38", "10.40.0.30-10.40.0.37 for load balancers, of pool lan", "10.40.0.38 for machines, of pool lan"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in %s", want, out)
		}
	}
	a.ok("destroy", "dev-cluster", "--yes").expectLedger(t, c.ledger("created", "12: 1 machine, 2 disks, 9 addresses"))
}

// pool is a NetworkPool for a cluster of one node.
const pool = `---
apiVersion: butler.butlerlabs.dev/v1alpha1
kind: NetworkPool
metadata: {name: lan, namespace: butler-system}
spec:
  cidr: 10.40.0.0/24
  tenantAllocation: {start: 10.40.0.30, end: 10.40.0.39}
`
