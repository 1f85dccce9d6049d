// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/compute/apiv1/computepb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/googleapi"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	sim "github.com/butlerdotdev/butler/internal/sim/gcp"
	"github.com/butlerdotdev/butler/provider"
)

// TestALoadBalancerFollowsItsSpec changes ports, health check and ranges of one whose name
// is too long for a part, external and internal, and deletes it.
func TestALoadBalancerFollowsItsSpec(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	p := f.connected(t)
	for _, scheme := range []v1alpha1.LoadBalancerScheme{v1alpha1.SchemeInternetFacing, v1alpha1.SchemeInternal} {
		s := provider.LoadBalancerSpec{Port: 6443, HealthCheckPort: 6443, AdditionalPorts: []int32{50000}, Scheme: scheme}
		s.Name, s.Owner = strings.Repeat("long-", 12)+"lb", provider.Owner{ID: "o", ClusterID: "c", Cluster: "mgmt"}
		for _, change := range []func(){
			func() {},
			func() { s.AllowedCIDRs, s.AdditionalPorts = []string{"10.0.0.0/8", "192.0.2.0/24"}, nil },
			func() {
				s.AllowedCIDRs, s.AdditionalPorts, s.HealthCheckPort = []string{"10.0.0.0/8"}, []int32{50001}, 6444
			},
		} {
			change()
			f.ensured(t, p, s)
			f.follows(t, s)
		}
		f.removed(t, p, s.LoadBalancerRef)
	}
}

func (f *fixture) ensured(t *testing.T, p provider.Platform, s provider.LoadBalancerSpec) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; <-time.After(20 * time.Millisecond) {
		lb, err := p.LoadBalancers.Ensure(t.Context(), s)
		if err != nil || time.Now().After(end) {
			t.Fatalf("ensure reports %+v: %v", lb, err)
		}
		if lb.State == provider.StateRunning {
			return
		}
	}
}

func (f *fixture) removed(t *testing.T, p provider.Platform, ref provider.LoadBalancerRef) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
		if err := p.LoadBalancers.Delete(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		if lb, err := p.LoadBalancers.Observe(t.Context(), ref); err != nil || lb.State == provider.StateAbsent {
			break
		}
	}
	if left, err := p.LoadBalancers.List(t.Context(), ref.Owner); err != nil || len(left) > 0 {
		t.Errorf("left: %+v, %v", left, err)
	}
}

// follows compares what the administrator sees with the spec.
func (f *fixture) follows(t *testing.T, s provider.LoadBalancerSpec) {
	t.Helper()
	b := balancers{f.admin}
	found, err := b.find(t.Context(), s.LoadBalancerRef)
	if err != nil {
		t.Fatal(err)
	}
	want := append([]int32{s.Port}, s.AdditionalPorts...)
	slices.Sort(want)
	if diff := cmp.Diff(want, found.ports()); diff != "" || found.missing() != "" {
		t.Errorf("%s %s", found.missing(), diff)
	}
	if got := found.checks[s.Port].GetTcpHealthCheck().GetPort(); got != s.HealthCheckPort {
		t.Errorf("port %d is probed on %d", s.Port, got)
	}
	internal := s.Scheme == v1alpha1.SchemeInternal
	if got := found.address.GetAddressType() == computepb.Address_INTERNAL.String(); got != internal {
		t.Errorf("the address is %s", found.address.GetAddressType())
	}
	clients := []string{"0.0.0.0/0"}
	if len(s.AllowedCIDRs) > 0 {
		clients = append(slices.Clone(s.AllowedCIDRs), f.clients(t)...)
		clients = slices.DeleteFunc(clients, func(c string) bool { return internal && strings.HasSuffix(c, "/32") })
	}
	if !sameSet(clients, found.firewall.GetSourceRanges()) || !slices.Equal(found.firewall.GetDestinationRanges(), []string{found.address.GetAddress() + "/32"}) {
		t.Errorf("clients are %v, want %v; destinations %v", found.firewall.GetSourceRanges(), clients, found.firewall.GetDestinationRanges())
	}
}

func ported(name string) provider.LoadBalancerSpec {
	return provider.LoadBalancerSpec{LoadBalancerRef: provider.LoadBalancerRef{Name: name, Owner: provider.Owner{ID: name, ClusterID: "c", Cluster: "mgmt"}}, Port: 6443, HealthCheckPort: 6443}
}

// TestAPartThatSomethingElseUsesIsNamed: the deletion continues when that is gone.
func TestAPartThatSomethingElseUsesIsNamed(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	p, s, o := f.connected(t), ported("lb"), operator{f}
	f.ensured(t, p, s)
	found, err := balancers{f.admin}.find(t.Context(), s.LoadBalancerRef)
	if err != nil {
		t.Fatal(err)
	}
	begun, err := f.admin.rules.Insert(t.Context(), &computepb.InsertForwardingRuleRequest{Project: f.admin.spec.ProjectID, Region: f.admin.spec.Region, ForwardingRuleResource: &computepb.ForwardingRule{
		Name: new("web"), IPProtocol: new("TCP"), Ports: []string{"443"}, LoadBalancingScheme: new("EXTERNAL"), NetworkTier: new("PREMIUM"), BackendService: new(pathOf(found.services[6443].GetSelfLink())),
	}})
	if err := o.ended(t.Context(), begun, err); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); err == nil && time.Now().Before(end); <-time.After(20 * time.Millisecond) {
		err = p.LoadBalancers.Delete(t.Context(), s.LoadBalancerRef)
	}
	if provider.KindOf(err) != provider.InUse || provider.ReasonOf(err) != provider.ReasonDeletionRefused || !strings.Contains(err.Error(), "forwardingRules/web") {
		t.Errorf("%v", err)
	}
	begun, err = f.admin.rules.Delete(t.Context(), &computepb.DeleteForwardingRuleRequest{Project: f.admin.spec.ProjectID, Region: f.admin.spec.Region, ForwardingRule: "web"})
	if err := o.ended(t.Context(), begun, err); err != nil {
		t.Fatal(err)
	}
	f.removed(t, p, s.LoadBalancerRef)
}

func TestRefusalsOfADeletion(t *testing.T) {
	refused := func(reason, text string) error {
		return &googleapi.Error{Code: 400, Message: text, Errors: []googleapi.ErrorItem{{Reason: reason, Message: text}}}
	}
	const used = "The backend_service resource 'projects/p/regions/r/backendServices/lb-6443' is already being used by 'projects/p/regions/r/forwardingRules/"
	for name, c := range map[string]struct {
		err  error
		kind provider.Kind // empty: it is asked for again
	}{
		"accepted":                 {nil, ""},
		"gone":                     {&googleapi.Error{Code: 404, Message: "not found"}, ""},
		"used by another part":     {refused("resourceInUseByAnotherResource", used+"lb-6443'"), ""},
		"used by something else":   {refused("resourceInUseByAnotherResource", used+"web'"), provider.InUse},
		"used by what is not said": {refused("resourceInUseByAnotherResource", "in use"), ""},
		"changed just now":         {refused("resourceNotReady", "not ready"), ""},
		"not allowed":              {refused("forbidden", "no"), provider.Unauthorized},
	} {
		err := refusedRemoval("delete", "lb", c.err)
		if (err == nil) != (c.kind == "") || err != nil && provider.KindOf(err) != c.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOperationsOfALoadBalancerAreItsOwn: one whose name begins alike has none of them. Once
// every part was deleted again, nothing can appear any more.
func TestOperationsOfALoadBalancerAreItsOwn(t *testing.T) {
	f := newFixture(t, sim.Seed{})
	p, s := f.connected(t), ported("lb")
	f.ensured(t, p, ported("lb-2"))
	if lb, err := p.LoadBalancers.Observe(t.Context(), s.LoadBalancerRef); err != nil || lb.State != provider.StateAbsent || lb.Certain {
		t.Errorf("%+v, %v", lb, err)
	}
	f.ensured(t, p, s)
	all, err := balancers{f.admin}.partOperations(t.Context(), "lb")
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]bool{}
	for _, o := range all {
		targets[partOf(o.GetTargetLink(), f.admin.spec.ProjectID)+" "+lastOf(o.GetTargetLink())] = true
	}
	if diff := cmp.Diff(map[string]bool{"regions lb": true, "regions lb-6443": true, "zones lb": true, "global " + balancers{f.admin}.firewallName("lb"): true}, targets); diff != "" {
		t.Error(diff)
	}
	f.removed(t, p, s.LoadBalancerRef)
	if lb, err := p.LoadBalancers.Observe(t.Context(), s.LoadBalancerRef); err != nil || lb.State != provider.StateAbsent || !lb.Certain {
		t.Errorf("%+v, %v", lb, err)
	}
}

func TestEverythingThatWasCreatedIsDeleted(t *testing.T) {
	operation := func(kind, target string, status computepb.Operation_Status, code int32) *computepb.Operation {
		return &computepb.Operation{OperationType: &kind, TargetLink: &target, Status: status.Enum(), HttpErrorStatusCode: &code, HttpErrorMessage: new("failed")}
	}
	const done, runs = computepb.Operation_DONE, computepb.Operation_RUNNING
	created, deleted := operation(opInsert, "a", done, 0), operation(opDelete, "a", done, 0)
	for name, c := range map[string]struct {
		all  []*computepb.Operation
		want bool
	}{
		"nothing is known":              {nil, false},
		"created and deleted":           {[]*computepb.Operation{created, deleted}, true},
		"the creation is too long ago":  {[]*computepb.Operation{deleted}, true},
		"a deletion runs":               {[]*computepb.Operation{created, operation(opDelete, "a", runs, 0)}, false},
		"a deletion has failed":         {[]*computepb.Operation{created, operation(opDelete, "a", done, 400)}, false},
		"created again":                 {[]*computepb.Operation{created, deleted, operation(opInsert, "a", runs, 0)}, false},
		"a second creation has failed":  {[]*computepb.Operation{created, deleted, operation(opInsert, "a", done, 409)}, true},
		"changed in between":            {[]*computepb.Operation{created, operation("patch", "a", done, 0), deleted}, true},
		"another part is there":         {[]*computepb.Operation{created, operation(opInsert, "b", done, 0), deleted}, false},
		"the creation alone has failed": {[]*computepb.Operation{operation(opInsert, "a", done, 409)}, false},
	} {
		if got := dissolved(c.all); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
