// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/provider"
)

func TestAddressesAreThoseOfTheRequestedNetwork(t *testing.T) {
	ours := kubevirtv1.VirtualMachineInstanceNetworkInterface{
		Name: networkLabel, IP: "fe80::1", MAC: "52:54:00:12:34:56", InfoSource: "domain, guest-agent",
		IPs: []string{"fe80::1", "fd00::5", "10.40.0.10/16", "127.0.0.1", "10.40.0.10", "nonsense"},
	}
	unleased := ours
	unleased.IP, unleased.IPs = "", nil
	pods := kubevirtv1.VirtualMachineInstanceNetworkInterface{
		InterfaceName: "cilium_host", IP: "10.244.1.27", IPs: []string{"10.244.1.27"}, MAC: "aa:aa:aa:aa:aa:aa", InfoSource: "guest-agent",
	}
	other := kubevirtv1.VirtualMachineInstanceNetworkInterface{Name: "storage", IP: "10.50.0.9", IPs: []string{"10.50.0.9"}, InfoSource: "domain"}
	cases := map[string]struct {
		interfaces []kubevirtv1.VirtualMachineInstanceNetworkInterface
		want       []string
	}{
		"the requested network alone":           {[]kubevirtv1.VirtualMachineInstanceNetworkInterface{ours}, []string{"10.40.0.10", "fd00::5"}},
		"beside interfaces of the guest":        {[]kubevirtv1.VirtualMachineInstanceNetworkInterface{pods, other, ours}, []string{"10.40.0.10", "fd00::5"}},
		"no lease, but interfaces of the guest": {[]kubevirtv1.VirtualMachineInstanceNetworkInterface{unleased, pods, other}, nil},
	}
	for name, c := range cases {
		vmi := &kubevirtv1.VirtualMachineInstance{Status: kubevirtv1.VirtualMachineInstanceStatus{Interfaces: c.interfaces}}
		found, mac := addresses(conflictingMachine("a"), vmi)
		var got []string
		for _, a := range found {
			got = append(got, a.String())
		}
		if diff := cmp.Diff(c.want, got); diff != "" || mac != ours.MAC {
			t.Errorf("%s: mac %s (-want +got)\n%s", name, mac, diff)
		}
	}
}

func TestARunningGuestWithoutAddressIsAnExplainedWait(t *testing.T) {
	vm := conflictingMachine("a")
	vmi := &kubevirtv1.VirtualMachineInstance{Status: kubevirtv1.VirtualMachineInstanceStatus{Phase: kubevirtv1.Running}}
	agent := kubevirtv1.VirtualMachineInstanceCondition{Type: kubevirtv1.VirtualMachineInstanceAgentConnected, Status: corev1.ConditionTrue}
	for _, want := range []string{"qemu-guest-agent", "DHCP"} { // first without agent, then with it
		m := report(vm, provider.MachineRef{}, vmi)
		if m.State != provider.StatePending || !strings.Contains(m.Message, want) {
			t.Errorf("%+v, want a word about %s", m, want)
		}
		vmi.Status.Conditions = append(vmi.Status.Conditions, agent)
	}
}

func TestAGuestThatDoesNotReadItsNetworkDataIsExplained(t *testing.T) {
	vm := (&machines{}).virtualMachine(addressed(provider.MachineSpec{}), disks{})
	vmi := &kubevirtv1.VirtualMachineInstance{Status: kubevirtv1.VirtualMachineInstanceStatus{
		Phase: kubevirtv1.Running, Conditions: []kubevirtv1.VirtualMachineInstanceCondition{{Type: kubevirtv1.VirtualMachineInstanceAgentConnected, Status: corev1.ConditionTrue}},
	}}
	if m := report(vm, provider.MachineRef{}, vmi); !strings.Contains(m.Message, "platform nocloud") {
		t.Errorf("%+v", m)
	}
}

func TestOnlyAMachineThatStaysOffIsStopped(t *testing.T) {
	in := func(p kubevirtv1.VirtualMachineInstancePhase) *kubevirtv1.VirtualMachineInstance {
		return &kubevirtv1.VirtualMachineInstance{Status: kubevirtv1.VirtualMachineInstanceStatus{Phase: p}}
	}
	var never kubevirtv1.VirtualMachineStatus // KubeVirt writes the strategy with the first instance
	started := kubevirtv1.VirtualMachineStatus{RunStrategy: kubevirtv1.RunStrategyRerunOnFailure}
	starting, failing, unread := started, started, started
	starting.StateChangeRequests = []kubevirtv1.VirtualMachineStateChangeRequest{{Action: kubevirtv1.StartRequest}}
	failing.StartFailure = &kubevirtv1.VirtualMachineStartFailure{ConsecutiveFailCount: 1}
	unread.Created = true
	halted := kubevirtv1.VirtualMachineStatus{RunStrategy: kubevirtv1.RunStrategyHalted}
	always := kubevirtv1.VirtualMachineStatus{RunStrategy: kubevirtv1.RunStrategyAlways}
	cases := map[string]struct {
		strategy kubevirtv1.VirtualMachineRunStrategy
		vmi      *kubevirtv1.VirtualMachineInstance
		status   kubevirtv1.VirtualMachineStatus
		want     provider.State
	}{
		"switched off":            {kubevirtv1.RunStrategyHalted, nil, never, provider.StateStopped},
		"being switched off":      {kubevirtv1.RunStrategyHalted, in(kubevirtv1.Running), started, provider.StatePending},
		"shut down from within":   {kubevirtv1.RunStrategyRerunOnFailure, in(kubevirtv1.Succeeded), started, provider.StateStopped},
		"the instance is removed": {kubevirtv1.RunStrategyRerunOnFailure, nil, started, provider.StateStopped},
		"crashed":                 {kubevirtv1.RunStrategyRerunOnFailure, in(kubevirtv1.Failed), started, provider.StatePending},
		"between crash and start": {kubevirtv1.RunStrategyRerunOnFailure, nil, starting, provider.StatePending},
		"the next start waits":    {kubevirtv1.RunStrategyRerunOnFailure, nil, failing, provider.StatePending},
		"may not be read":         {kubevirtv1.RunStrategyRerunOnFailure, nil, unread, provider.StatePending},
		"about to start":          {kubevirtv1.RunStrategyRerunOnFailure, nil, never, provider.StatePending},
		"just switched on":        {kubevirtv1.RunStrategyRerunOnFailure, nil, halted, provider.StatePending},
		"ended, but always again": {kubevirtv1.RunStrategyAlways, in(kubevirtv1.Succeeded), always, provider.StatePending},
		"removed, always again":   {kubevirtv1.RunStrategyAlways, nil, always, provider.StatePending},
	}
	for name, c := range cases {
		vm := conflictingMachine("a")
		vm.Spec.RunStrategy, vm.Status = &c.strategy, c.status
		vm.Status.PrintableStatus = kubevirtv1.VirtualMachineStatusStopped // KubeVirt shows it in all these cases
		m := report(vm, provider.MachineRef{}, c.vmi)
		if m.State != c.want || m.Message == "" {
			t.Errorf("%s: %s (%q), want %s", name, m.State, m.Message, c.want)
		}
	}
}

func TestAMachineOverQuotaSaysSo(t *testing.T) {
	vm := conflictingMachine("a")
	halted := kubevirtv1.RunStrategyHalted
	vm.Spec.RunStrategy = &halted
	vm.Annotations = map[string]string{"harvesterhci.io/insufficient-resource-quota": "cpu insufficient resources due to resource quota"}
	m := report(vm, provider.MachineRef{}, nil)
	if m.State != provider.StateStopped || !strings.Contains(m.Message, "cpu insufficient resources due to resource quota; raise the quota") {
		t.Errorf("%s: %s", m.State, m.Message)
	}
}

func TestUserDataIsInlineUpToTheLimitOfKubeVirt(t *testing.T) {
	for length, inline := range map[int]bool{1: true, 2048: true, 2049: false} {
		s := provider.MachineSpec{UserData: provider.Sensitive(strings.Repeat("x", length))}
		c, secret := cloudInit(s), (&machines{}).secret(s)
		if inline != (secret == nil) || inline != (c.UserDataSecretRef == nil) || inline != (len(c.UserData) == length) {
			t.Errorf("%d bytes: %d inline, secret %v", length, len(c.UserData), secret != nil)
		}
	}
}

func TestARefusalDoesNotQuoteUserData(t *testing.T) {
	path := field.NewPath("spec", "userData")
	for _, value := range []any{"canary: \"a\": b", map[string]string{"canary": "x: y"}} {
		err := apierrors.NewInvalid(schema.GroupKind{Kind: "VirtualMachine"}, "a", field.ErrorList{field.Invalid(path, value, "is too long")})
		got := createError("create", &kubevirtv1.VirtualMachine{}, err).Error()
		if strings.Contains(got, "canary") || !strings.Contains(got, "spec.userData: invalid value: is too long") {
			t.Errorf("%s", got)
		}
	}
}

func TestNetworkErrorsAreTheSameWithEveryTry(t *testing.T) {
	try := func(port int) string {
		return apiError("observe", &net.OpError{
			Op: "read", Net: "tcp", Source: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: port},
			Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 2), Port: 6443}, Err: errors.New("connection reset by peer"),
		}).Error()
	}
	if try(1) != try(2) || !strings.Contains(try(1), "10.0.0.2:6443") {
		t.Errorf("%s\n%s", try(1), try(2))
	}
}

func TestErrorsHaveTheirKind(t *testing.T) {
	r := schema.GroupResource{Resource: "virtualmachines"}
	cases := map[provider.Kind][]error{
		provider.Unauthorized: {apierrors.NewUnauthorized("no"), apierrors.NewForbidden(r, "a", errors.New("no"))},
		provider.Exhausted:    {apierrors.NewForbidden(r, "a", errors.New("exceeded quota: q"))},
		provider.Invalid: {
			apierrors.NewBadRequest("no"), apierrors.NewNotFound(r, "a"),
			apierrors.NewForbidden(r, "a", errors.New("admission webhook \"w\" denied the request: no")),
		},
		provider.Unavailable: {
			apierrors.NewTooManyRequests("slow down", 1), apierrors.NewInternalError(errors.New("oops")),
			apierrors.NewServiceUnavailable("later"), apierrors.NewTimeoutError("late", 1), errors.New("EOF"),
		},
	}
	for kind, errs := range cases {
		for _, err := range errs {
			mapped := apiError("try", err)
			if got := provider.KindOf(mapped); got != kind {
				t.Errorf("%v is %s, want %s", err, got, kind)
			}
			if e, ok := errors.AsType[*provider.Error](mapped); !ok || e.Hint == "" {
				t.Errorf("%v does not say what to do", mapped)
			}
		}
	}
}

func TestOnlyAMachineOnItsWayUpIsNotPushed(t *testing.T) {
	now := metav1.Now()
	vm := func(s kubevirtv1.VirtualMachinePrintableStatus) *kubevirtv1.VirtualMachine {
		return &kubevirtv1.VirtualMachine{Status: kubevirtv1.VirtualMachineStatus{PrintableStatus: s}}
	}
	vmi := func(p kubevirtv1.VirtualMachineInstancePhase, c ...kubevirtv1.VirtualMachineInstanceCondition) *kubevirtv1.VirtualMachineInstance {
		return &kubevirtv1.VirtualMachineInstance{Status: kubevirtv1.VirtualMachineInstanceStatus{Phase: p, Conditions: c}}
	}
	going := vm(kubevirtv1.VirtualMachineStatusRunning)
	going.DeletionTimestamp = &now
	unbound := kubevirtv1.VirtualMachineInstanceCondition{Type: "PodScheduled", Status: corev1.ConditionFalse, Message: "unbound"}
	local := kubevirtv1.VirtualMachineInstanceCondition{Type: kubevirtv1.VirtualMachineInstanceIsMigratable, Status: corev1.ConditionFalse, Message: "not shared"}
	pushed := map[string]client.Object{
		"halted":      vm(kubevirtv1.VirtualMachineStatusStopped),
		"crashing":    vm(kubevirtv1.VirtualMachineStatusCrashLoopBackOff),
		"no disk":     vm(kubevirtv1.VirtualMachineStatusPvcNotFound),
		"deleted":     going,
		"runs":        vmi(kubevirtv1.Running),
		"failed":      vmi(kubevirtv1.Failed),
		"cannot run":  vmi(kubevirtv1.Scheduling, unbound),
		"other kinds": &corev1.Secret{},
	}
	for name, o := range pushed {
		if uneventful(o) {
			t.Errorf("%s is not pushed", name)
		}
	}
	silent := map[string]client.Object{
		"new": vm(""), "starts": vm(kubevirtv1.VirtualMachineStatusStarting), "instance is new": vmi(""), "is scheduled": vmi(kubevirtv1.Scheduled),
		"stays on its host": vmi(kubevirtv1.Scheduled, local),
	}
	for name, o := range silent {
		if !uneventful(o) {
			t.Errorf("%s is pushed", name)
		}
	}
}

func TestTheMachineHasTheSizeAndTheDataOfItsSpec(t *testing.T) {
	s := provider.MachineSpec{CPU: 4, MemoryMB: 8192, UserData: "user", NetworkData: "network"}
	spec := (&machines{}).virtualMachine(s, disks{}).Spec.Template.Spec
	if got := spec.Domain.CPU.Cores; got != 4 {
		t.Errorf("%d cores", got)
	}
	if got := spec.Domain.Memory.Guest.Value(); got != 8192<<20 {
		t.Errorf("%d bytes of memory", got)
	}
	data := spec.Volumes[len(spec.Volumes)-1].CloudInitNoCloud
	if data == nil || data.UserData != "user" || data.NetworkData != "network" {
		t.Errorf("cloud-init %+v", data)
	}
}
