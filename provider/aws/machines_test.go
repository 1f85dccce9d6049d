// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	sim "github.com/butlerdotdev/butler/internal/sim/aws"
	"github.com/butlerdotdev/butler/provider"
)

// TestAStockOutTriesTheNextZoneAndAQuotaDoesNot follows the reconciler: an attempt that
// was refused is planned again.
func TestAStockOutTriesTheNextZoneAndAQuotaDoesNot(t *testing.T) {
	f := newFixture(t, sim.Seed{VCPUs: 4, FullZones: []string{"eu-central-1a"}})
	p := f.connected(t)
	s := cluster()[0]
	record, err := p.Plan(t.Context(), s, provider.Attempt{})
	if err != nil {
		t.Fatal(err)
	}
	s.Attempt = record
	_, refused := p.Machines.Create(t.Context(), s)
	if provider.ReasonOf(refused) != provider.ReasonCapacityExhausted || !strings.Contains(refused.Error(), "eu-central-1a") {
		t.Fatalf("a full zone: %v", refused)
	}
	if s.Attempt, err = p.Plan(t.Context(), s, provider.Attempt{Record: record, Refused: refused}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Machines.Create(t.Context(), s); err != nil {
		t.Fatalf("the next zone: %v", err)
	}
	m := awaitRunning(t, p, s.MachineRef)
	if !strings.HasPrefix(m.NodeProviderID, "aws:///eu-central-1b/i-") {
		t.Errorf("it runs as %s", m.NodeProviderID)
	}
	other := cluster()[1]
	first, err := p.Plan(t.Context(), other, provider.Attempt{})
	if err != nil {
		t.Fatal(err)
	}
	other.Attempt = first
	_, refused = p.Machines.Create(t.Context(), other)
	if provider.ReasonOf(refused) != provider.ReasonQuotaExceeded {
		t.Fatalf("beyond the quota: %v", refused)
	}
	if again, err := p.Plan(t.Context(), other, provider.Attempt{Record: first, Refused: refused}); again != first || err != nil {
		t.Errorf("after a quota the plan is %s, before %s: %v", again, first, err)
	}
}

func awaitRunning(t *testing.T, p provider.Platform, ref provider.MachineRef) (m provider.Machine) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
		var err error
		if m, err = p.Machines.Observe(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		if m.State == provider.StateRunning {
			return m
		}
	}
	t.Fatalf("the machine is %s: %s", m.State, m.Message)
	return m
}

// TestAMachineIsCreatedAsDocumented: encrypted disks that end with it, IMDSv2 with one hop,
// no public address, tags on every part.
func TestAMachineIsCreatedAsDocumented(t *testing.T) {
	f := newFixture(t, sim.Seed{Lag: lag(2 * time.Second)})
	p := f.connected(t)
	s := cluster()[0]
	m, err := p.Machines.Create(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := p.Machines.Create(t.Context(), s); err != nil || again.ID != m.ID {
		t.Fatalf("before it is described, a second call reports %q, the first %q: %v", again.ID, m.ID, err)
	}
	m = awaitRunning(t, p, s.MachineRef)
	if len(m.Addresses) != 1 || !m.Addresses[0].IsPrivate() || len(m.Disks) != 1 {
		t.Errorf("it runs as %+v", m)
	}
	out, err := f.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{m.ID}})
	if err != nil {
		t.Fatal(err)
	}
	i := out.Reservations[0].Instances[0]
	if o := i.MetadataOptions; o == nil || o.HttpTokens != "required" || value(o.HttpPutResponseHopLimit) != 1 {
		t.Errorf("its metadata: %+v", i.MetadataOptions)
	}
	volumes, err := f.ec2.DescribeVolumes(t.Context(), &ec2.DescribeVolumesInput{})
	if err != nil || len(volumes.Volumes) != 1 {
		t.Fatalf("%d disks: %v", len(volumes.Volumes), err)
	}
	v := volumes.Volumes[0]
	if !value(v.Encrypted) || v.VolumeType != "gp3" || value(v.Size) != s.DiskGB || !value(v.Attachments[0].DeleteOnTermination) {
		t.Errorf("its disk: %+v", v)
	}
	for what, tags := range map[string]map[string]string{"instance": tagMap(i.Tags), "disk": tagMap(v.Tags)} {
		if tags["Name"] != s.Name || tags["kubernetes.io/cluster/mgmt"] != "owned" || tags["butler.butlerlabs.dev/owner-id"] != s.Owner.ID || tags["butler.butlerlabs.dev/role"] != string(s.Role) {
			t.Errorf("the %s has the tags %v", what, tags)
		}
	}
}
