// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"regexp"
	"strings"
	"testing"
)

// cloud is a provider whose examples are rehearsed from outside of its network: private
// addresses do not answer here, the load balancer does.
type cloud struct {
	provider string
	cluster  string         // of the HA example
	endpoint *regexp.Regexp // of its load balancer
	nodeID   string         // how provider IDs of nodes begin
	// What the HA example and the single-node one create.
	ha, single string
}

func clouds() []cloud {
	return []cloud{
		{
			"aws", "butler-mgmt", regexp.MustCompile(`endpoint: .*\.elb\.eu-central-1\.amazonaws\.com\n`), "aws:///eu-central-1",
			"25: 6 machines, 9 disks, 1 load balancer, 6 network interfaces, 1 security group, 2 target groups",
			"7: 1 machine, 1 disk, 1 load balancer, 1 network interface, 1 security group, 2 target groups",
		},
		{
			"gcp", "butler-prod", regexp.MustCompile(`endpoint: +34\.`), "gce://butler-example/europe-west3-",
			"23: 6 machines, 6 disks, 1 address, 2 backend services, 1 firewall rule, 2 forwarding rules, 2 health checks, 3 instance groups",
			"12: 1 machine, 2 disks, 1 address, 2 backend services, 1 firewall rule, 2 forwarding rules, 2 health checks, 1 instance group",
		},
		{
			"azure", "butler-mgmt", regexp.MustCompile(`endpoint: +[0-9.]+\n`), "azure:///subscriptions/3f2c8a51-7d0e-4b6a-9c1d-5e8f7a2b4c60/resourceGroups/butler/",
			"24: 6 machines, 9 disks, 1 address, 1 load balancer, 6 network interfaces, 1 security rule",
			"6: 1 machine, 1 disk, 1 address, 1 load balancer, 1 network interface, 1 security rule",
		},
	}
}

func (c cloud) example(topology string) string {
	return "../../configs/examples/" + c.provider + "-" + topology + ".yaml"
}

// ledger is the account of what was created, or found, and is gone.
func (c cloud) ledger(verb, counts string) string {
	number, kinds, _ := strings.Cut(counts, ":")
	return verb + " " + number + ", deleted " + number + ", left 0:" + kinds
}

// rehearse creates the HA example and removes it.
func (c cloud) rehearse(t *testing.T) {
	a := newAdm(t)
	a.ok("bootstrap", c.provider, "-c", c.example("ha"), "--rehearse")
	expectSelfManaged(t, a, c.cluster)
	if out := a.ok("status", c.cluster).out; !c.endpoint.MatchString(out) {
		t.Errorf("the endpoint is none of a load balancer:\n%s", out)
	}
	zones := map[string]bool{}
	for _, n := range a.nodes(c.cluster) {
		if !strings.HasPrefix(n.Spec.ProviderID, c.nodeID) || len(n.Spec.Taints) > 1 {
			t.Errorf("node %s has the provider ID %q and the taints %v", n.Name, n.Spec.ProviderID, n.Spec.Taints)
		}
		zones[n.Labels["topology.kubernetes.io/zone"]] = true
	}
	if len(zones) != 3 {
		t.Errorf("the nodes are in the zones %v", zones)
	}
	a.ok("destroy", c.cluster, "--yes").expectLedger(t, c.ledger("created", c.ha))
}

// TestCloudRehearsal creates the HA example of the first cloud, and the single nodes of the
// others; the tests with the tag rehearsals create the rest.
func TestCloudRehearsal(t *testing.T) {
	all := clouds()
	t.Run(all[0].provider, all[0].rehearse)
	for _, c := range all[1:] {
		t.Run(c.provider, func(t *testing.T) {
			a := newAdm(t)
			a.ok("bootstrap", c.provider, "-c", c.example("single-node"), "--rehearse")
			a.ok("destroy", "dev-cluster", "--yes").expectLedger(t, c.ledger("created", c.single))
		})
	}
}
