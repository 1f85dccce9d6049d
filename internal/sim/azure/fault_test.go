// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package azure_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v6"

	"github.com/butlerdotdev/butler/internal/sim/azure"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	"github.com/butlerdotdev/butler/provider/tag"
)

func TestFaultsRefuseInTheWordsOfAzure(t *testing.T) {
	f := start(t, azure.Seed{})
	f.run(t, "one")
	vms := f.compute.NewVirtualMachinesClient()
	read := func() error { _, err := vms.Get(t.Context(), "example", "one", nil); return err }
	for faults, want := range map[string]string{
		"- {kind: throttle, resource: machine}": "429 SubscriptionRequestsThrottled",
		"- {kind: deny, resource: machine}":     "403 AuthorizationFailed",
		"- {kind: tokenExpiry}":                 "401 ExpiredAuthenticationToken",
	} {
		f.faults.Replace(plan(t, faults))
		expect(t, faults, read(), want)
	}
	f.faults.Replace(plan(t, "- {kind: throttle, resource: machine, retryAfter: 7s}"))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://management.azure.com"+resources+"Microsoft.Compute/virtualMachines?api-version=2024-11-01", nil)
	must(t, err)
	got, err := f.client().Do(r)
	must(t, err)
	_ = got.Body.Close()
	if got.Header.Get("Retry-After") != "7" {
		t.Errorf("retry after %q", got.Header.Get("Retry-After"))
	}
	f.faults.Replace(fault.Plan{})
	f.createNIC(t, "two")
	f.faults.Replace(plan(t, "- {kind: quota, resource: machine}"))
	_, err = vms.BeginCreateOrUpdate(t.Context(), "example", "two", machine("two"), nil)
	expect(t, "quota", err, "409 OperationNotAllowed")
	f.faults.Replace(plan(t, "- {kind: noCapacity, machine: two}"))
	p, err := vms.BeginCreateOrUpdate(t.Context(), "example", "two", machine("two"), nil)
	must(t, err)
	_, err = p.PollUntilDone(t.Context(), &runtime.PollUntilDoneOptions{Frequency: time.Millisecond})
	expect(t, "capacity", err, "200 ZonalAllocationFailed")
}

func TestFailedTasksAndDeaths(t *testing.T) {
	f := start(t, azure.Seed{})
	vms := f.compute.NewVirtualMachinesClient()
	f.run(t, "one")
	f.faults.Replace(plan(t, "- {kind: failedTask, verb: delete, machine: one}"))
	p, err := vms.BeginDelete(t.Context(), "example", "one", nil)
	must(t, err)
	_, err = p.PollUntilDone(t.Context(), &runtime.PollUntilDoneOptions{Frequency: time.Millisecond})
	expect(t, "failed delete", err, "200 InternalExecutionError")
	_, err = vms.Get(t.Context(), "example", "one", nil)
	must(t, err)
	f.faults.Replace(plan(t, "- {kind: failedTask, verb: create, machine: two}"))
	f.createNIC(t, "two")
	_, err = vms.BeginCreateOrUpdate(t.Context(), "example", "two", machine("two"), nil)
	must(t, err)
	until(t, "the creation has failed", func() bool {
		got, err := vms.Get(t.Context(), "example", "two", nil)
		must(t, err)
		return *got.Properties.ProvisioningState == "Failed"
	})
	f.faults.Replace(plan(t, "- {kind: machineDies, machine: three, after: 1500ms}"))
	f.run(t, "three")
	until(t, "the machine is healed", func() bool { return f.boots.Load() >= 3 })
}

func TestReadsOfThePastAndOfAnotherSubscription(t *testing.T) {
	f := start(t, azure.Seed{})
	vms := f.compute.NewVirtualMachinesClient()
	f.faults.Replace(plan(t, "- {kind: staleList, for: 1m}"))
	if n := f.count(t); n != 0 {
		t.Fatalf("%d things exist", n)
	}
	_, err := f.net.NewInterfacesClient().BeginCreateOrUpdate(t.Context(), "example", "new", nic(), nil)
	must(t, err)
	if n := f.count(t); n != 0 {
		t.Errorf("%d things are listed a minute too early", n)
	}
	f.faults.Replace(fault.Plan{})
	until(t, "the interface is listed", func() bool { return f.count(t) == 1 })
	f.run(t, "one")
	second := plan(t, "- {kind: secondPlatform}")
	must(t, f.api.Prepare(t.Context(), second))
	f.faults.Replace(second)
	_, err = vms.Get(t.Context(), "example", "one", nil)
	expect(t, "second", err, "404 ResourceNotFound")
	_, err = f.net.NewVirtualNetworksClient().Get(t.Context(), "example", "butler", nil)
	must(t, err)
}

func TestCopiesAndConflicts(t *testing.T) {
	f := start(t, azure.Seed{})
	f.faults.Replace(plan(t, "- {kind: clone, machine: one}\n- {kind: conflictingMachine, machine: two}"))
	owned := tag.Azure().Write(tag.Set{OwnerID: "0b9f1c5e-7d3a-4c7e-9a57-3f1d2e4b6a80", ClusterID: "f3a2b1c0-1111-4222-8333-944455556666", Cluster: "audited", Machine: "one"})
	f.run(t, "one", func(v *armcompute.VirtualMachine) {
		v.Tags = map[string]*string{}
		for name, value := range owned {
			v.Tags[name] = &value
		}
	})
	until(t, "there are a copy and a conflicting machine", func() bool { return f.count(t) == 9 })
	vms := f.compute.NewVirtualMachinesClient()
	got, err := vms.Get(t.Context(), "example", "one-clone", nil)
	must(t, err)
	if *got.Tags["butler-owner-id"] != owned["butler-owner-id"] {
		t.Errorf("the copy has the tags %v", got.Tags)
	}
	for _, name := range []string{"one", "one-clone", "two"} {
		p, err := vms.BeginDelete(t.Context(), "example", name, nil)
		must(t, err)
		finish(t, p)
	}
	if left := f.count(t); left != 0 {
		t.Errorf("%d objects are left", left)
	}
}

func TestAuditorSeesObjectsAndWriters(t *testing.T) {
	f := start(t, azure.Seed{})
	owned := tag.Azure().Write(tag.Set{OwnerID: "0b9f1c5e-7d3a-4c7e-9a57-3f1d2e4b6a80", ClusterID: "f3a2b1c0-1111-4222-8333-944455556666", Cluster: "audited", Machine: "one"})
	f.run(t, "one", func(v *armcompute.VirtualMachine) {
		v.Tags = map[string]*string{}
		for name, value := range owned {
			v.Tags[name] = &value
		}
	})
	seen := map[fault.Resource]int{}
	for _, o := range f.auditor.Left() {
		seen[o.Resource]++
	}
	if seen[fault.Machine] != 1 || seen[fault.Disk] != 1 {
		t.Errorf("the auditor sees %v", seen)
	}
	p, err := f.compute.NewVirtualMachinesClient().BeginDelete(t.Context(), "example", "one", nil)
	must(t, err)
	finish(t, p)
	if left := f.auditor.Left(); len(left) != 0 {
		t.Errorf("the auditor still sees %v", left)
	}
}

func TestEverythingSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	before := startIn(t, dir, azure.Seed{})
	address := before.publicAddress(t, "api")
	before.run(t, "one")
	token := before.token(t)
	must(t, before.api.Stop())
	after := startIn(t, dir, azure.Seed{})
	until(t, "the machine runs again", func() bool { return after.boots.Load() == 1 })
	if status, body := after.call(t, http.MethodGet, resources+"Microsoft.Compute/virtualMachines/one?api-version=2024-11-01", token, ""); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	got, err := after.net.NewPublicIPAddressesClient().Get(t.Context(), "example", "api", nil)
	must(t, err)
	if *got.Properties.IPAddress != *address.Properties.IPAddress {
		t.Errorf("the address is %s", *got.Properties.IPAddress)
	}
}
