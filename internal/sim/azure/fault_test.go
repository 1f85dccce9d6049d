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
	"github.com/butlerdotdev/butler/internal/sim/cloud/cloudtest"
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
		f.Plan(t, faults)
		expect(t, faults, read(), want)
	}
	f.Plan(t, "- {kind: throttle, resource: machine, retryAfter: 7s}")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://management.azure.com"+resources+"Microsoft.Compute/virtualMachines?api-version=2024-11-01", nil)
	cloudtest.Must(t, err)
	got, err := f.Client().Do(r)
	cloudtest.Must(t, err)
	_ = got.Body.Close()
	if got.Header.Get("Retry-After") != "7" {
		t.Errorf("retry after %q", got.Header.Get("Retry-After"))
	}
	f.Faults.Replace(fault.Plan{})
	f.createNIC(t, "two")
	f.Plan(t, "- {kind: quota, resource: machine}")
	_, err = vms.BeginCreateOrUpdate(t.Context(), "example", "two", machine("two"), nil)
	expect(t, "quota", err, "409 OperationNotAllowed")
	f.Plan(t, "- {kind: noCapacity, machine: two}")
	p, err := vms.BeginCreateOrUpdate(t.Context(), "example", "two", machine("two"), nil)
	cloudtest.Must(t, err)
	_, err = p.PollUntilDone(t.Context(), &runtime.PollUntilDoneOptions{Frequency: time.Millisecond})
	expect(t, "capacity", err, "200 ZonalAllocationFailed")
}

func TestFailedTasksAndDeaths(t *testing.T) {
	f := start(t, azure.Seed{})
	vms := f.compute.NewVirtualMachinesClient()
	f.run(t, "one")
	f.Plan(t, "- {kind: failedTask, verb: delete, machine: one}")
	p, err := vms.BeginDelete(t.Context(), "example", "one", nil)
	cloudtest.Must(t, err)
	_, err = p.PollUntilDone(t.Context(), &runtime.PollUntilDoneOptions{Frequency: time.Millisecond})
	expect(t, "failed delete", err, "200 InternalExecutionError")
	_, err = vms.Get(t.Context(), "example", "one", nil)
	cloudtest.Must(t, err)
	f.Plan(t, "- {kind: failedTask, verb: create, machine: two}")
	f.createNIC(t, "two")
	_, err = vms.BeginCreateOrUpdate(t.Context(), "example", "two", machine("two"), nil)
	cloudtest.Must(t, err)
	cloudtest.Until(t, "the creation has failed", func() bool {
		got, err := vms.Get(t.Context(), "example", "two", nil)
		cloudtest.Must(t, err)
		return *got.Properties.ProvisioningState == "Failed"
	})
	f.Plan(t, "- {kind: machineDies, machine: three, after: 1500ms}")
	f.run(t, "three")
	cloudtest.Until(t, "the machine is healed", func() bool { return f.Boots.Load() >= 3 })
}

func TestReadsOfThePastAndOfAnotherSubscription(t *testing.T) {
	f := start(t, azure.Seed{})
	vms := f.compute.NewVirtualMachinesClient()
	f.Plan(t, "- {kind: staleList, for: 1m}")
	if n := f.count(t); n != 0 {
		t.Fatalf("%d things exist", n)
	}
	_, err := f.net.NewInterfacesClient().BeginCreateOrUpdate(t.Context(), "example", "new", nic(), nil)
	cloudtest.Must(t, err)
	if n := f.count(t); n != 0 {
		t.Errorf("%d things are listed a minute too early", n)
	}
	f.Faults.Replace(fault.Plan{})
	cloudtest.Until(t, "the interface is listed", func() bool { return f.count(t) == 1 })
	f.run(t, "one")
	f.Plan(t, "- {kind: secondPlatform}")
	_, err = vms.Get(t.Context(), "example", "one", nil)
	expect(t, "second", err, "404 ResourceNotFound")
	_, err = f.net.NewVirtualNetworksClient().Get(t.Context(), "example", "butler", nil)
	cloudtest.Must(t, err)
}

func TestCopiesAndConflicts(t *testing.T) {
	f := start(t, azure.Seed{})
	f.Plan(t, "- {kind: clone, machine: one}\n- {kind: conflictingMachine, machine: two}")
	owned := tag.Azure().Write(tag.Set{OwnerID: "0b9f1c5e-7d3a-4c7e-9a57-3f1d2e4b6a80", ClusterID: "f3a2b1c0-1111-4222-8333-944455556666", Cluster: "audited", Machine: "one"})
	f.run(t, "one", func(v *armcompute.VirtualMachine) {
		v.Tags = map[string]*string{}
		for name, value := range owned {
			v.Tags[name] = &value
		}
	})
	cloudtest.Until(t, "there are a copy and a conflicting machine", func() bool { return f.count(t) == 9 })
	vms := f.compute.NewVirtualMachinesClient()
	got, err := vms.Get(t.Context(), "example", "one-clone", nil)
	cloudtest.Must(t, err)
	if *got.Tags["butler-owner-id"] != owned["butler-owner-id"] {
		t.Errorf("the copy has the tags %v", got.Tags)
	}
	for _, name := range []string{"one", "one-clone", "two"} {
		p, err := vms.BeginDelete(t.Context(), "example", name, nil)
		cloudtest.Must(t, err)
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
	for _, o := range f.Auditor.Left() {
		seen[o.Resource]++
	}
	if seen[fault.Machine] != 1 || seen[fault.Disk] != 1 {
		t.Errorf("the auditor sees %v", seen)
	}
	p, err := f.compute.NewVirtualMachinesClient().BeginDelete(t.Context(), "example", "one", nil)
	cloudtest.Must(t, err)
	finish(t, p)
	if left := f.Auditor.Left(); len(left) != 0 {
		t.Errorf("the auditor still sees %v", left)
	}
}

func TestEverythingSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	before := startIn(t, dir, azure.Seed{})
	address := before.publicAddress(t, "api")
	before.run(t, "one")
	token := before.token(t)
	cloudtest.Must(t, before.API.Stop())
	after := startIn(t, dir, azure.Seed{})
	cloudtest.Until(t, "the machine runs again", func() bool { return after.Boots.Load() == 1 })
	if status, body := after.call(t, http.MethodGet, resources+"Microsoft.Compute/virtualMachines/one?api-version=2024-11-01", token, ""); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	got, err := after.net.NewPublicIPAddressesClient().Get(t.Context(), "example", "api", nil)
	cloudtest.Must(t, err)
	if *got.Properties.IPAddress != *address.Properties.IPAddress {
		t.Errorf("the address is %s", *got.Properties.IPAddress)
	}
}
