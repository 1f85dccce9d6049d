// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterbootstrap

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// fromPool is a cluster without a VIP whose addresses come from NetworkPool lan, which has
// some of them.
func (w *fixture) fromPool(last string) *v1alpha1.NetworkPool {
	w.Helper()
	config := providerConfig()
	config.Spec.Network = &v1alpha1.ProviderNetworkSpec{
		Mode: v1alpha1.NetworkModeIPAM, PoolRefs: []v1alpha1.NetworkPoolReference{{Name: "lan"}}, Gateway: "10.40.0.1", DNSServers: []string{"10.40.0.2"},
	}
	w.create(config)
	cb := clusterBootstrap()
	cb.Spec.Cluster.Topology, cb.Spec.Network.VIP = v1alpha1.TopologyHA, ""
	w.create(cb)
	pool := &v1alpha1.NetworkPool{ObjectMeta: metav1.ObjectMeta{Name: "lan"}, Spec: v1alpha1.NetworkPoolSpec{
		CIDR: "10.40.0.0/24", TenantAllocation: &v1alpha1.TenantAllocation{Start: "10.40.0.10", End: last},
	}}
	w.create(pool)
	return pool
}

// answer gives an allocation an address, as its controller does.
func (w *fixture) answer(name, address string) *v1alpha1.IPAllocation {
	w.Helper()
	a := &v1alpha1.IPAllocation{}
	if err := w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, a); err != nil {
		w.Fatal(err)
	}
	a.Status = v1alpha1.IPAllocationStatus{Phase: v1alpha1.IPAllocationAllocated, StartAddress: address, EndAddress: address, Addresses: []string{address}, AllocatedCount: 1, CIDR: "10.40.0.0/24"}
	if err := w.Status().Update(w.Context(), a); err != nil {
		w.Fatal(err)
	}
	return a
}

func (w *fixture) expect(reason, says string) {
	w.Helper()
	cb := w.reconcile("dev")
	if c := progressing(cb); c.Reason != reason || !strings.Contains(c.Message, says) {
		w.Fatalf("%s: %s", c.Reason, c.Message)
	}
	if _, err := w.request("dev-cp-0"); !apierrors.IsNotFound(err) {
		w.Fatalf("a machine is requested before it has an address: %v", err)
	}
}

func TestMachinesAreRequestedWithAddressesOfThePoolOnceAllAreAllocated(t *testing.T) {
	w := newFixture(t)
	pool := w.fromPool("10.40.0.10")
	w.expect("NetworkPoolTooSmall", "the cluster needs 2 addresses")
	pool.Spec.TenantAllocation.End = "10.40.0.20"
	if err := w.Update(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	w.expect("WaitingForAddresses", "IPAllocation dev-cp-0 has no addresses of NetworkPool lan yet (and 1 more)")
	machine := w.answer("dev-cp-0", "10.40.0.10")
	if machine.Spec.MachineRequestRef == nil || machine.Spec.MachineRequestRef.Name != "dev-cp-0" || machine.Spec.Type != v1alpha1.IPAllocationNodes {
		t.Errorf("%+v", machine.Spec)
	}
	w.expect("WaitingForAddresses", "IPAllocation dev-vip has no addresses")
	vip := w.answer("dev-vip", "10.40.0.11")
	if vip.Spec.ClusterBootstrapRef == nil || vip.Spec.ClusterBootstrapRef.Name != "dev" || vip.Spec.Type != v1alpha1.IPAllocationLoadBalancer {
		t.Errorf("%+v", vip.Spec)
	}
	cb := w.reconcile("dev")
	r, err := w.request("dev-cp-0")
	if err != nil {
		t.Fatal(err)
	}
	want := &v1alpha1.MachineNetwork{Address: "10.40.0.10/24", Gateway: "10.40.0.1", DNSServers: []string{"10.40.0.2"}}
	if diff := cmp.Diff(want, r.Spec.Network); diff != "" {
		t.Error(diff)
	}
	listed := []v1alpha1.BootstrapAllocation{
		{Name: "dev-cp-0", Pool: "lan", CIDR: "10.40.0.0/24", StartAddress: "10.40.0.10", EndAddress: "10.40.0.10"},
		{Name: "dev-vip", Pool: "lan", CIDR: "10.40.0.0/24", StartAddress: "10.40.0.11", EndAddress: "10.40.0.11"},
	}
	if diff := cmp.Diff(listed, cb.Status.Allocations); diff != "" || cb.Spec.Network.VIP != "" {
		t.Error(diff, cb.Spec.Network.VIP)
	}
}

func TestAllocationThatIsLostGetsItsAddressBack(t *testing.T) {
	w := newFixture(t)
	w.fromPool("10.40.0.20")
	w.expect("WaitingForAddresses", "")
	w.answer("dev-cp-0", "10.40.0.10")
	vip := w.answer("dev-vip", "10.40.0.11")
	w.reconcile("dev")
	if err := w.Delete(t.Context(), vip); err != nil {
		t.Fatal(err)
	}
	cb := w.reconcile("dev")
	again := &v1alpha1.IPAllocation{}
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(vip), again); err != nil {
		t.Fatal(err)
	}
	if p := again.Spec.PinnedRange; p == nil || p.StartAddress != "10.40.0.11" || p.EndAddress != "10.40.0.11" || len(cb.Status.Allocations) != 2 {
		t.Errorf("%+v, %v", again.Spec, cb.Status.Allocations)
	}
}

func TestAllocationThatIsBeingDeletedStillHasItsAddress(t *testing.T) {
	w := newFixture(t)
	w.fromPool("10.40.0.20")
	w.expect("WaitingForAddresses", "")
	w.answer("dev-cp-0", "10.40.0.10")
	vip := w.answer("dev-vip", "10.40.0.11")
	w.reconcile("dev")
	before := vip.DeepCopy()
	vip.Finalizers = []string{v1alpha1.FinalizerIPAllocation}
	if err := w.Patch(t.Context(), vip, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	if err := w.Delete(t.Context(), vip); err != nil {
		t.Fatal(err)
	}
	if c := progressing(w.reconcile("dev")); c.Reason != "WaitingForMachines" {
		t.Errorf("%s: %s", c.Reason, c.Message)
	}
}

func TestAddressThatWasAllocatedDoesNotChange(t *testing.T) {
	w := newFixture(t)
	w.fromPool("10.40.0.20")
	w.expect("WaitingForAddresses", "")
	w.answer("dev-cp-0", "10.40.0.10")
	w.answer("dev-vip", "10.40.0.11")
	cb := w.reconcile("dev")
	for vip, reason := range map[string]string{"10.40.0.15": "NetworkInvalid", "10.40.0.11": "WaitingForMachines"} {
		cb.Spec.Network.VIP = vip
		if err := w.Update(t.Context(), cb); err != nil {
			t.Fatal(err)
		}
		cb = w.reconcile("dev")
		if c := progressing(cb); c.Reason != reason || reason == "NetworkInvalid" && !strings.Contains(c.Message, "spec.network.vip is 10.40.0.15, but 10.40.0.11 was allocated for it from NetworkPool lan and does not change") {
			t.Errorf("%s: %s: %s", vip, c.Reason, c.Message)
		}
	}
}

func TestAllocationOfAnotherClusterIsNotAdopted(t *testing.T) {
	w := newFixture(t)
	w.fromPool("10.40.0.20")
	w.create(&v1alpha1.IPAllocation{ObjectMeta: metav1.ObjectMeta{Name: "dev-vip"}, Spec: v1alpha1.IPAllocationSpec{
		PoolRef: v1alpha1.LocalReference{Name: "lan"}, Type: v1alpha1.IPAllocationLoadBalancer, Count: 1, ClusterBootstrapRef: &v1alpha1.LocalReference{Name: "other"},
	}})
	w.expect("NameTaken", "IPAllocation "+w.namespace+"/dev-vip belongs to another cluster")
}

// answersAt puts another host on an address.
func (w *fixture) answersAt(host string) {
	w.Dial = func(_ context.Context, _, address string) (net.Conn, error) {
		if address != host+":22" {
			return nil, errors.New("no route to host")
		}
		here, there := net.Pipe()
		_ = there.Close()
		return here, nil
	}
}

func TestAddressOfAnotherHostIsNotUsed(t *testing.T) {
	w := newFixture(t)
	pool := w.fromPool("10.40.0.20")
	w.expect("WaitingForAddresses", "")
	w.answer("dev-cp-0", "10.40.0.10")
	w.answer("dev-vip", "10.40.0.11")
	w.answersAt("10.40.0.10")
	w.expect("AddressInUse", "10.40.0.10, which NetworkPool lan has allocated to dev-cp-0, is in use by another host; remove that host, or add 10.40.0.10/32 to spec.reserved of the pool")
	pool.Spec.Reserved = []v1alpha1.ReservedRange{{CIDR: "10.40.0.10/32"}}
	if err := w.Update(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	w.expect("WaitingForAddresses", "IPAllocation dev-cp-0 has addresses that NetworkPool lan no longer allows; it is created again")
	w.expect("WaitingForAddresses", "IPAllocation dev-cp-0 has no addresses of NetworkPool lan yet")
	w.answer("dev-cp-0", "10.40.0.12")
	w.reconcile("dev")
	if r, err := w.request("dev-cp-0"); err != nil || r.Spec.Network.Address != "10.40.0.12/24" {
		t.Errorf("%v, %+v", err, r.Spec.Network)
	}
}

// TestVIPOfAnotherHostIsNotUsedUntilTheSpecNamesAnother: to reserve the address does not help.
func TestVIPOfAnotherHostIsNotUsedUntilTheSpecNamesAnother(t *testing.T) {
	const inUse = "10.40.0.11, which the spec names, is in use by another host; remove that host, or choose another address in spec.network"
	w := newFixture(t)
	pool := w.fromPool("10.40.0.20")
	name := func(vip string) {
		cb := w.get("dev")
		cb.Spec.Network.VIP = vip
		w.must(w.Update(t.Context(), cb))
	}
	name("10.40.0.11")
	w.expect("WaitingForAddresses", "")
	w.answer("dev-cp-0", "10.40.0.10")
	w.answer("dev-vip", "10.40.0.11")
	w.answersAt("10.40.0.11")
	w.expect("AddressInUse", inUse)
	pool.Spec.Reserved = []v1alpha1.ReservedRange{{CIDR: "10.40.0.11/32"}}
	w.must(w.Update(t.Context(), pool))
	w.expect("AddressInUse", inUse)
	name("10.40.0.12")
	w.expect("WaitingForAddresses", "IPAllocation dev-vip has other addresses than the spec names; it is created again")
	w.expect("WaitingForAddresses", "IPAllocation dev-vip has no addresses of NetworkPool lan yet")
	if vip := w.answer("dev-vip", "10.40.0.12"); vip.Spec.PinnedRange.StartAddress != "10.40.0.12" {
		t.Errorf("%+v", vip.Spec.PinnedRange)
	}
	if cb := w.reconcile("dev"); cb.Status.Phase != v1alpha1.BootstrapProvisioningMachines {
		t.Errorf("%+v", progressing(cb))
	}
}

func TestHostThatLeavesTheAddressHeals(t *testing.T) {
	w := newFixture(t)
	w.fromPool("10.40.0.20")
	w.expect("WaitingForAddresses", "")
	w.answer("dev-cp-0", "10.40.0.10")
	w.answer("dev-vip", "10.40.0.11")
	silent := w.Dial
	w.Dial = func(_ context.Context, _, address string) (net.Conn, error) {
		if strings.HasPrefix(address, "10.40.0.11:") {
			return nil, fmt.Errorf("dial: %w", syscall.ECONNREFUSED)
		}
		return nil, errors.New("no route to host")
	}
	w.expect("AddressInUse", "10.40.0.11, which NetworkPool lan has allocated to dev-vip")
	w.Dial = silent
	if cb := w.reconcile("dev"); cb.Status.Phase != v1alpha1.BootstrapProvisioningMachines {
		t.Errorf("%+v", progressing(cb))
	}
}

func TestClusterOfDHCPKeepsItsAddressesWhenPoolsAreAdded(t *testing.T) {
	w := newFixture(t)
	config := providerConfig()
	w.create(config)
	w.create(clusterBootstrap())
	w.reconcile("dev")
	config.Spec.Network = &v1alpha1.ProviderNetworkSpec{Mode: v1alpha1.NetworkModeIPAM, PoolRefs: []v1alpha1.NetworkPoolReference{{Name: "lan"}}}
	if err := w.Update(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	cb := w.reconcile("dev")
	all := &v1alpha1.IPAllocationList{}
	if err := w.List(t.Context(), all, client.InNamespace(w.namespace)); err != nil || len(all.Items) != 0 || progressing(cb).Reason != "WaitingForMachines" {
		t.Errorf("%v, %v, %+v", err, all.Items, progressing(cb))
	}
}
