// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package diagnosis_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/diagnosis"
)

// waits is a cluster in a phase that waits for something.
func waits(phase v1alpha1.ClusterBootstrapPhase, reason, message string) diagnosis.Facts {
	return diagnosis.Facts{
		Cluster: "dev", Time: time.Now(), Plane: diagnosis.Plane{Holder: "butleradm bootstrap dev"},
		Commands:  diagnosis.Commands{Bootstrap: "butleradm bootstrap harvester -c FILE", Status: "butleradm status dev", Destroy: "butleradm destroy dev"},
		Bootstrap: &diagnosis.Object{Kind: "ClusterBootstrap", Name: "dev", Phase: string(phase), Conditions: ready(metav1.ConditionFalse, reason, message)},
	}
}

func ready(status metav1.ConditionStatus, reason, message string) []metav1.Condition {
	return []metav1.Condition{{Type: "Ready", Status: status, Reason: reason, Message: message}}
}

// with adds facts to a copy.
func with(f diagnosis.Facts, add ...func(*diagnosis.Facts)) diagnosis.Facts {
	cluster := *f.Bootstrap
	f.Bootstrap = &cluster
	for _, a := range add {
		a(&f)
	}
	return f
}

func addon(name string, phase v1alpha1.AddonPhase, reason, message string) func(*diagnosis.Facts) {
	return func(f *diagnosis.Facts) {
		f.Addons = append(f.Addons, v1alpha1.BootstrapAddonStatus{Name: name, Phase: phase, Reason: reason, Message: message})
	}
}

func pod(namespace, name, reason, message string) func(*diagnosis.Facts) {
	return func(f *diagnosis.Facts) {
		f.Pods = append(f.Pods, diagnosis.Pod{Namespace: namespace, Name: name, Reason: reason, Message: message})
	}
}

func node(n diagnosis.Node) func(*diagnosis.Facts) {
	return func(f *diagnosis.Facts) { f.Nodes = append(f.Nodes, n) }
}

func plane(p diagnosis.Plane) func(*diagnosis.Facts) {
	return func(f *diagnosis.Facts) { f.Plane = p }
}

// since is when the bootstrap came its last step further.
func since(ago time.Duration) func(*diagnosis.Facts) {
	return func(f *diagnosis.Facts) { f.Bootstrap.Changed = &metav1.Time{Time: f.Time.Add(-ago)} }
}

// request is a machine that waits since then.
func request(reason string, ago time.Duration) func(*diagnosis.Facts) {
	return func(f *diagnosis.Facts) {
		f.Requests = append(f.Requests, diagnosis.Object{
			Kind: "MachineRequest", Name: "dev-cp-0", Phase: "Creating", Conditions: ready(metav1.ConditionFalse, reason, "no address yet"),
			Changed: &metav1.Time{Time: f.Time.Add(-ago)},
		})
	}
}

// TestWhatEveryBootstrapPassesThroughIsNoCause: not before it has lasted for a while.
func TestWhatEveryBootstrapPassesThroughIsNoCause(t *testing.T) {
	talos := waits(v1alpha1.BootstrapConfiguringTalos, "WaitingForTalos", "etcd starts")
	addons := waits(v1alpha1.BootstrapInstallingAddons, "WaitingForAddons", "addon x is not ready")
	service := func(state string) func(*diagnosis.Facts) {
		return node(diagnosis.Node{Name: "dev-cp-0", Talos: "Configured", Services: []diagnosis.Service{{ID: "etcd", State: state}}})
	}
	notReady := node(diagnosis.Node{Name: "dev-cp-0", Talos: "Configured", NotReady: "is not Ready: disk pressure"})
	starting := []func(*diagnosis.Facts){
		addon("x", "Waiting", "", "Deployment x/x: 0 of 1 pods are ready"), pod("x", "x-1", "NotReady", "container x is not ready"),
	}
	crashing := []func(*diagnosis.Facts){starting[0], pod("x", "x-1", "CrashLoopBackOff", "exit 1")}
	for reason, c := range map[string]struct {
		facts diagnosis.Facts
		early diagnosis.Cause
		late  diagnosis.Cause
	}{
		"a service starts":        {with(talos, service("Preparing")), diagnosis.InProgress, diagnosis.ServiceDown},
		"a service fails":         {with(talos, service("Failed")), diagnosis.ServiceDown, diagnosis.ServiceDown},
		"a node is not Ready":     {with(talos, notReady), diagnosis.InProgress, diagnosis.NodeNotReady},
		"a pod starts":            {with(addons, starting...), diagnosis.InProgress, diagnosis.AddonNotReady},
		"a pod crashes":           {with(addons, crashing...), diagnosis.PodCrashes, diagnosis.PodCrashes},
		"a machine boots":         {with(talos, request("NoAddress", time.Second)), diagnosis.InProgress, diagnosis.InProgress},
		"a machine boots in vain": {with(talos, request("NoAddress", time.Hour)), "NoAddress", "NoAddress"},
	} {
		for ago, want := range map[time.Duration]diagnosis.Cause{time.Second: c.early, time.Hour: c.late} {
			if chain := diagnosis.Explain(with(c.facts, since(ago))); chain.Cause != want || len(chain.Links) == 0 {
				t.Errorf("%s, for %s: %s, want %s", reason, ago, chain.Cause, want)
			}
		}
	}
}

// TestSymptomsBehindMachinesAreExplained has what no platform's fault shows: nodes, addons,
// pods, planes and tenants.
func TestSymptomsBehindMachinesAreExplained(t *testing.T) {
	addons := waits(v1alpha1.BootstrapInstallingAddons, "WaitingForAddons", "addon x is not ready")
	nodes := waits(v1alpha1.BootstrapInstallingAddons, "WaitingForNodes", "node dev-cp-0 is not Ready")
	talos := waits(v1alpha1.BootstrapConfiguringTalos, "WaitingForTalos", "dev-cp-0 does not answer")
	const workload = "Deployment cert-manager/cert-manager: 0 of 1 pods are ready"
	for reason, c := range map[string]struct {
		facts diagnosis.Facts
		cause diagnosis.Cause
		last  string // object of the last link
	}{
		"a chart is not there": {with(addons, addon("flux", "Failing", "FetchFailed", "503")), diagnosis.ChartUnavailable, "Addon/flux"},
		"a webhook refuses":    {with(addons, addon("metallb", "Failing", "WebhookRefused", "denied")), diagnosis.WebhookRefuses, "Addon/metallb"},
		"a hook fails":         {with(addons, addon("flux", "Failing", "HookFailed", "hook Job flux/x fails"), pod("flux", "x-1", "Error", "exit 1")), diagnosis.HookFails, "Pod/flux/x-1"},
		"an image is missing": {
			with(addons, addon("cert-manager", "Waiting", "", workload), pod("cert-manager", "cert-manager-7f", "ErrImagePull", "not found")), diagnosis.ImagePull, "Pod/cert-manager/cert-manager-7f",
		},
		"a container crashes": {
			with(addons, addon("cert-manager", "Waiting", "", workload), pod("cert-manager", "cert-manager-7f", "CrashLoopBackOff", "exit 1")), diagnosis.PodCrashes, "Pod/cert-manager/cert-manager-7f",
		},
		"a pod of another addon": {
			with(addons, addon("cert-manager", "Waiting", "", workload), pod("flux", "cert-manager-7f", "CrashLoopBackOff", "exit 1")), diagnosis.InProgress, "ClusterBootstrap/dev",
		},
		"no node takes it": {
			with(addons, addon("cert-manager", "Waiting", "", workload), pod("cert-manager", "cert-manager-7f", "Unschedulable", "0/1 nodes")), diagnosis.PodUnschedulable, "Pod/cert-manager/cert-manager-7f",
		},
		"an addon that waits for a failing one": {
			with(addons, addon("a", "Pending", "", "waits for b"), addon("b", "Failing", "ApplyFailed", "apply x: no; do y")), diagnosis.AddonNotReady, "Addon/b",
		},
		"nodes without a network": {
			with(nodes, node(diagnosis.Node{Name: "dev-cp-0", Talos: "Configured", NotReady: "is not Ready: the network is not ready"}), addon("cilium", "Failing", "FetchFailed", "503")), diagnosis.ChartUnavailable, "Addon/cilium",
		},
		"a kubelet": {with(nodes, node(diagnosis.Node{Name: "dev-cp-0", Talos: "Configured", NotReady: "is not Ready: disk pressure"})), diagnosis.NodeNotReady, "Node/dev-cp-0"},
		"a service": {
			with(talos, node(diagnosis.Node{Name: "dev-cp-0", Talos: "Configured", Services: []diagnosis.Service{{ID: "kubelet", State: "Waiting"}, {ID: "etcd", State: "Preparing", Message: "no image"}}})), diagnosis.ServiceDown, "Service/etcd",
		},
		"no time": {
			with(talos, node(diagnosis.Node{Name: "dev-cp-0", Talos: "Configured", Services: []diagnosis.Service{{ID: "kubelet", State: "Waiting", Message: "Waiting for time sync"}}})), diagnosis.NoRoute, "Service/kubelet",
		},
		"one of two machines": {
			with(talos, node(diagnosis.Node{Name: "dev-cp-0", Talos: "Configured"}), node(diagnosis.Node{Name: "dev-w-0", Talos: "Unreachable", Silent: true, Error: "no answer in time"})), diagnosis.NodeUnreachable, "Node/dev-w-0",
		},
		"all machines": {
			with(talos, node(diagnosis.Node{Name: "dev-cp-0", Talos: "Unreachable", Silent: true, Error: "no answer in time"}), node(diagnosis.Node{Name: "dev-w-0", Talos: "Unreachable", Silent: true, Error: "no answer in time"})), diagnosis.NoRoute, "Node/dev-cp-0",
		},
		"a node of another cluster": {with(talos, node(diagnosis.Node{Name: "dev-cp-0", Talos: "Foreign", Foreign: true})), diagnosis.ForeignNode, "Node/dev-cp-0"},
		"the API server": {
			with(nodes, node(diagnosis.Node{Name: "dev-cp-0", Talos: "Configured"}), func(f *diagnosis.Facts) { f.API = diagnosis.API{Asked: true, Error: "refused"} }), diagnosis.APIServerDown, "Kubernetes/dev",
		},
		"the API server of a Ready cluster": {
			with(waits(v1alpha1.BootstrapReady, "", ""), func(f *diagnosis.Facts) {
				f.Bootstrap.Conditions = ready(metav1.ConditionTrue, "BootstrapComplete", "")
				f.API = diagnosis.API{Asked: true, Error: "refused"}
			}), diagnosis.APIServerDown, "Kubernetes/dev",
		},
		"another host with the VIP":       {with(addons, addon("cert-manager", "Failing", "ApplyFailed", "refused"), func(f *diagnosis.Facts) { f.Contested = "10.0.0.9" }), diagnosis.AddressInUse, "Address/10.0.0.9"},
		"an address in use":               {waits(v1alpha1.BootstrapPending, "AddressInUse", "10.0.0.1 is in use"), diagnosis.AddressInUse, "ClusterBootstrap/dev"},
		"no bootstrap runs":               {with(addons, plane(diagnosis.Plane{})), diagnosis.NotRunning, "ClusterBootstrap/dev"},
		"a stopped rehearsal":             {with(addons, plane(diagnosis.Plane{SimulatorStopped: true})), diagnosis.SimulatorStopped, "Simulator/dev"},
		"a silent cluster":                {with(addons, plane(diagnosis.Plane{SelfHosted: true, Silent: "dev does not answer"})), diagnosis.APIServerDown, "Cluster/dev"},
		"a stopped move":                  {with(addons, plane(diagnosis.Plane{SelfHosted: true, Stopped: true})), diagnosis.NotRunning, "ClusterBootstrap/dev"},
		"two fenced planes":               {with(addons, plane(diagnosis.Plane{SelfHosted: true, Fenced: "moved to a"})), diagnosis.Fenced, "ClusterBootstrap/dev"},
		"a paused cluster":                {with(addons, func(f *diagnosis.Facts) { f.Bootstrap.Paused = true }), diagnosis.Paused, "ClusterBootstrap/dev"},
		"a cluster that is not there yet": {with(addons, func(f *diagnosis.Facts) { f.Bootstrap = nil }), diagnosis.InProgress, "Cluster/dev"},
		"before the pivot":                {waits(v1alpha1.BootstrapPivoting, "ReadyToPivot", "everything is ready"), diagnosis.InProgress, "ClusterBootstrap/dev"},
		"no cluster":                      {with(addons, plane(diagnosis.Plane{}), func(f *diagnosis.Facts) { f.Bootstrap = nil }), diagnosis.Absent, "Cluster/dev"},
		"a spec that no retry fixes": {
			with(waits(v1alpha1.BootstrapFailed, "ProviderMismatch", "spec.provider is aws; correct it"), func(f *diagnosis.Facts) {
				f.Bootstrap.Conditions = append(f.Bootstrap.Conditions, metav1.Condition{Type: "Failed", Status: metav1.ConditionTrue})
			}), "ProviderMismatch", "ClusterBootstrap/dev",
		},
		"a tenant": {
			with(waits(v1alpha1.BootstrapReady, "", ""), func(f *diagnosis.Facts) {
				f.Bootstrap.Conditions = ready(metav1.ConditionTrue, "BootstrapComplete", "")
				f.Tenants = []diagnosis.Tenant{{
					Object:  diagnosis.Object{Kind: "TenantCluster", Namespace: "tenants", Name: "web", Conditions: ready(metav1.ConditionFalse, "WaitingForWorkers", "0 of 2")},
					Objects: []diagnosis.Object{{Kind: "AWSMachine", Name: "web-0", Conditions: []metav1.Condition{{Type: "InstanceReady", Status: metav1.ConditionFalse, Reason: "InstanceProvisionFailed", Message: "no quota"}}}},
				}}
			}), "InstanceProvisionFailed", "AWSMachine/web-0",
		},
	} {
		t.Run(reason, func(t *testing.T) {
			chain := diagnosis.Explain(c.facts)
			if chain.Healthy || chain.Cause != c.cause || len(chain.Links) == 0 || chain.Links[len(chain.Links)-1].Object != c.last {
				t.Fatalf("got %s at %+v", chain.Cause, chain.Links)
			}
			if chain.Summary == "" || len(chain.Remedies) == 0 || chain.Remedies[0].Do == "" {
				t.Errorf("it does not say what to do: %+v", chain)
			}
		})
	}
}

func TestNothingIsWrongWithAReadyCluster(t *testing.T) {
	f := waits(v1alpha1.BootstrapReady, "", "")
	f.Bootstrap.Conditions = ready(metav1.ConditionTrue, "BootstrapComplete", "all nodes and addons are Ready")
	if chain := diagnosis.Explain(f); !chain.Healthy || chain.Cause != "" || !strings.Contains(chain.Summary, "nothing is wrong") {
		t.Errorf("%+v", chain)
	}
}

// TestOneObjectIsExplained asks for objects by kind and name.
func TestOneObjectIsExplained(t *testing.T) {
	f := with(waits(v1alpha1.BootstrapInstallingAddons, "WaitingForAddons", "x"), addon("flux", "Failing", "FetchFailed", "503"), addon("cilium", "Ready", "", ""))
	f.Requests = []diagnosis.Object{{Kind: "MachineRequest", Name: "dev-cp-0", Phase: "Failed", Conditions: ready(metav1.ConditionFalse, "QuotaExceeded", "no")}}
	for name, want := range map[string]diagnosis.Cause{"addon/flux": diagnosis.ChartUnavailable, "addon/cilium": "", "machine/dev-cp-0": "QuotaExceeded", "MachineRequest/dev-cp-0": "QuotaExceeded"} {
		kind, object, _ := strings.Cut(name, "/")
		if chain, found := diagnosis.ExplainObject(f, kind, object); !found || chain.Cause != want || chain.Healthy != (want == "") {
			t.Errorf("%s: %t, %+v", name, found, chain)
		}
	}
	if _, found := diagnosis.ExplainObject(f, "addon", "other"); found {
		t.Error("an addon was found that is not there")
	}
}
