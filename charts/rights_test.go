// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
)

// TestRightsAreAllThatIsNeededAndNoMore lets every controller live its life as the
// account of its chart, and compares what it asked for with what it may.
func TestRightsAreAllThatIsNeededAndNoMore(t *testing.T) {
	c := installed(t)
	granted := grantedTo(t, c)
	t.Run("butler-controller", func(t *testing.T) { lifeOfAButlerConfig(t, c) })
	t.Run("butler-bootstrap and a provider", func(t *testing.T) { lifeOfACluster(t, c) })
	if t.Failed() {
		return
	}
	done, forbidden := asked(t)
	for g := range forbidden {
		t.Errorf("%s asked in vain to %s %s %q in %q", g.Account, g.Verb, g.Resource, g.Name, g.Namespace)
	}
	for _, g := range granted {
		if !used(g, done) && !byChance(g) {
			t.Errorf("%s may %s %s in %q and never does", g.Account, g.Verb, g.Resource, g.Namespace)
		}
	}
}

// grantedTo installs the cloud's provider too and returns what all accounts of
// this test may do.
func grantedTo(t *testing.T, c client.Client) (out []grant) {
	t.Helper()
	for _, a := range ha(t, v1alpha1.ProviderHarvester) {
		switch {
		case a.Source.Chart == crds:
		case !provides(a.Source.Chart):
			out = append(out, grants(t, objects(t, a.Source.Chart, a.Values))...)
		default:
			// What it may do is the same for all providers, but for its name.
			chart := load(t, a.Source.Chart)
			chart.Metadata.Name = cloud
			all, err := render(chart, a.Values)
			must(t, err)
			for _, o := range all {
				apply(t, c, o)
			}
			out = append(out, grants(t, all)...)
		}
	}
	return out
}

// byChance are grants that are used now and then: two like events of one version
// of an object become a series. A cloud, as in this test, has no NetworkPools.
func byChance(g grant) bool {
	if strings.HasPrefix(g.Account, "butler-provider-") && g.Resource == "tenantclusters" {
		return true // with limits of the ProviderConfig: internal/controller/machinerequest tests them
	}
	if g.Account == "butler-bootstrap" && (g.Resource == "ipallocations" || g.Resource == "addressclaims") {
		return true
	}
	return g.Group == "events.k8s.io" && g.Resource == "events" && g.Verb == "patch" || ofTenants(g)
}

// ofTenants are grants that need a tenant cluster, and Cluster API: the kinds that are built for
// one. TestEveryRightForTenantsIsUsed of internal/controller/tenantcluster sees that each verb is
// used, and runs with these grants and no others.
func ofTenants(g grant) bool {
	if g.Account != "butler-controller" {
		return false
	}
	switch {
	case strings.HasSuffix(g.Group, "cluster.x-k8s.io"):
		return true // their names: TestGrantsForClusterAPIAreThoseOfWhatIsBuilt
	case g.Resource == "clusterroles":
		return g.Name == "butler-controller-tenant" || g.Name == "butler-controller-outside"
	case g.Resource == "gateways":
		return g.Verb == "list" || g.Verb == "watch" // TestATenantLivesBehindAHostname of that package
	case slices.Contains([]string{"services", "tlsroutes", "ingresses"}, g.Resource):
		return true // the same
	case g.Resource == "ipallocations":
		return g.Verb == "create" || g.Verb == "delete"
	}
	return slices.Contains([]string{"tenantclusters", "tenantclusters/status", "roles"}, g.Resource) || g.Resource == "secrets" && g.Namespace == vault
}

// TestGrantsForClusterAPIAreThoseOfWhatIsBuilt compares the kinds of the golden files of all
// platforms with the kinds that the controller may create.
func TestGrantsForClusterAPIAreThoseOfWhatIsBuilt(t *testing.T) {
	files, err := filepath.Glob("../internal/tenant/testdata/objects/*.yaml")
	must(t, err)
	built := map[string]bool{}
	kind := regexp.MustCompile(`(?m)^apiVersion: (\S*cluster\.x-k8s\.io)/\S+\nkind: (\S+)`)
	for _, name := range files {
		data, err := os.ReadFile(name)
		must(t, err)
		for _, found := range kind.FindAllStringSubmatch(string(data), -1) {
			built[found[1]+"/"+plural(found[2])] = true
		}
	}
	for _, g := range grants(t, objects(t, "butler-controller", nil)) {
		key := g.Group + "/" + g.Resource
		if g.Verb != "create" || !strings.HasSuffix(g.Group, "cluster.x-k8s.io") {
			continue
		}
		if !built[key] {
			t.Errorf("butler-controller may create %s, which no platform has", key)
		}
		delete(built, key)
	}
	for key := range built {
		t.Errorf("butler-controller may not create %s, which a platform has", key)
	}
}

// plural is the name of the resource of a kind.
func plural(kind string) string {
	name := strings.ToLower(kind)
	if stem, ok := strings.CutSuffix(name, "y"); ok {
		return stem + "ies"
	}
	return name + "s"
}

// used reports whether a grant was used. A program that may list may as well watch,
// which older API servers need a list for, and get: neither returns more. A program
// that may not list gets what it has a grant for alone.
// To bind a role is to write a binding, which has the name of the role.
func used(g grant, done map[grant]bool) bool {
	if g.Verb == "bind" {
		g.Resource, g.Verb = "rolebindings", "create"
	}
	verbs := []string{g.Verb}
	switch {
	case g.Verb == "list", g.Verb == "watch":
		verbs = []string{"list", "watch"}
	case g.Verb == "get" && g.Resource != "secrets":
		verbs = []string{"get", "list", "watch"}
	}
	for d := range done {
		for _, g.Verb = range verbs {
			if g.covers(d) {
				return true
			}
		}
	}
	return false
}

// lifeOfAButlerConfig runs the binary through all that it can say.
func lifeOfAButlerConfig(t *testing.T, c client.Client) {
	logs := started(t, c, "butler-controller")
	config := &v1alpha1.ButlerConfig{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.ButlerConfigName}}
	config.Spec.ControlPlaneExposure = &v1alpha1.ControlPlaneExposureSpec{Mode: v1alpha1.ExposureIngress, Hostname: "*.k8s.example.com"}
	must(t, c.Create(t.Context(), config))
	ready := func(reason string) {
		t.Helper()
		await(t, logs, func() error {
			must(t, c.Get(t.Context(), client.ObjectKeyFromObject(config), config))
			if r := meta.FindStatusCondition(config.Status.Conditions, v1alpha1.ConditionReady); r == nil || r.Reason != reason {
				return fmt.Errorf("no %s: %+v", reason, config.Status)
			}
			return nil
		})
	}
	ready("IngressClassMissing")
	config.Spec.ControlPlaneExposure.Mode, config.Spec.ControlPlaneExposure.GatewayRef = v1alpha1.ExposureGateway, namespace+"/tenants"
	must(t, c.Update(t.Context(), config))
	ready("GatewayAPIMissing")
	withGateways(t, c)
	config.Spec.ControlPlaneExposure.GatewayRef = namespace + "/others"
	must(t, c.Update(t.Context(), config))
	ready("GatewayMissing")
	config.Spec.ControlPlaneExposure = nil
	must(t, c.Update(t.Context(), config))
	ready("InForce")
	awaitEvents(t, c, logs, "IngressClassMissing", "GatewayAPIMissing", "GatewayMissing", "InForce")
	lifeOfAnAddress(t, c, logs)
	lifeOfATeam(t, c, logs)
	content(t, logs)
}

// lifeOfATeam is that a team gets its namespace and its roles, and goes with both.
func lifeOfATeam(t *testing.T, c client.Client, logs *planetest.Output) {
	team := &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Name: "payments"}}
	team.Spec.Access.Users = []v1alpha1.TeamUser{{Name: "ada", Role: v1alpha1.TeamAdmin}}
	must(t, c.Create(t.Context(), team))
	await(t, logs, func() error {
		must(t, c.Get(t.Context(), client.ObjectKeyFromObject(team), team))
		if team.Status.Phase != v1alpha1.TeamReady {
			return fmt.Errorf("%+v", team.Status)
		}
		return nil
	})
	must(t, c.Delete(t.Context(), team))
	await(t, logs, func() error {
		found := &corev1.Namespace{}
		if err := c.Get(t.Context(), client.ObjectKey{Name: team.Name}, found); err != nil {
			return client.IgnoreNotFound(err)
		}
		if found.DeletionTimestamp == nil {
			return errors.New("the namespace of the team stays")
		}
		found.Spec.Finalizers = nil // no controller of namespaces runs here
		return c.SubResource("finalize").Update(t.Context(), found)
	})
	await(t, logs, func() error { return gone(t, c, team) })
}

// lifeOfAnAddress is that an address is allocated, released, rests, and goes with its pool.
func lifeOfAnAddress(t *testing.T, c client.Client, logs *planetest.Output) {
	pool := &v1alpha1.NetworkPool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "pool"}}
	pool.Spec.CIDR, pool.Spec.ReuseAfter = "10.40.0.0/24", &metav1.Duration{Duration: time.Second}
	must(t, c.Create(t.Context(), pool))
	a := &v1alpha1.IPAllocation{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "address"}}
	a.Spec.PoolRef, a.Spec.Type = v1alpha1.LocalReference{Name: pool.Name}, v1alpha1.IPAllocationNodes
	a.Spec.MachineRequestRef = &v1alpha1.LocalReference{Name: "machine"}
	must(t, c.Create(t.Context(), a))
	claim := &v1alpha1.AddressClaim{ObjectMeta: metav1.ObjectMeta{Name: "10.40.0.1"}}
	await(t, logs, func() error {
		must(t, c.Get(t.Context(), client.ObjectKeyFromObject(a), a))
		if a.Status.Phase != v1alpha1.IPAllocationAllocated {
			return fmt.Errorf("%+v", a.Status)
		}
		return c.Get(t.Context(), client.ObjectKeyFromObject(claim), claim)
	})
	must(t, c.Delete(t.Context(), a))
	for _, o := range []client.Object{a, claim} { // the pool says how long the address rests
		await(t, logs, func() error { return gone(t, c, o) })
	}
	must(t, c.Delete(t.Context(), pool))
	await(t, logs, func() error { return gone(t, c, pool) })
}

// withGateways defines the kind, as the Gateway API does.
func withGateways(t *testing.T, c client.Client) {
	t.Helper()
	apply(t, c, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{
			"name":        "gateways.gateway.networking.k8s.io",
			"annotations": map[string]any{"api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/gateway-api/pull/891"},
		},
		"spec": map[string]any{
			"group": "gateway.networking.k8s.io", "scope": "Namespaced",
			"names": map[string]any{"kind": "Gateway", "plural": "gateways"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}},
			}},
		},
	}})
}

func TestWhatAControllerNeedNotDoIsForbidden(t *testing.T) {
	c := installed(t)
	const bootstrap, controller, harvester = "butler-bootstrap", "butler-controller", "butler-provider-harvester"
	const lease = "." + v1alpha1.Group
	own := func(resource string) string { return v1alpha1.Group + "/" + resource }
	cases := []struct {
		accounts, verbs, resource, name, namespace string
	}{
		// Secrets elsewhere, and more than is needed with those that are.
		{"*", "get list watch create update patch delete", "/secrets", "", "kube-system"},
		{"*", "get list watch", "/secrets", "", ""},
		{controller, "get list watch", "/secrets", "", namespace},
		{bootstrap, "watch patch", "/secrets", "", namespace},
		{bootstrap, "list watch create update patch delete", "/secrets", "", vault},
		{harvester, "get list watch create", "/secrets", "", namespace},
		{harvester, "get list watch", "/secrets", "", vault},
		{harvester, "get list watch", "/secrets", "mgmt-talos-secrets", vault},
		{harvester, "create update patch delete", "/secrets", "credentials", vault},
		// Own kinds: what others do with them.
		{harvester, "create update delete deletecollection", own("machinerequests"), "", namespace},
		{harvester, "create update delete deletecollection", own("loadbalancerrequests"), "", namespace},
		{harvester, "create update delete", own("providerconfigs"), "", namespace},
		{harvester, "create update patch delete", own("clusterbootstraps"), "", namespace},
		{harvester, "patch", own("clusterbootstraps/status"), "", namespace},
		{bootstrap, "update deletecollection", own("machinerequests"), "", namespace},
		{bootstrap, "patch", own("machinerequests/status"), "", namespace},
		{bootstrap, "patch", own("loadbalancerrequests/status"), "", namespace},
		{bootstrap, "create update patch delete", own("providerconfigs"), "", namespace},
		{bootstrap, "create update delete", own("clusterbootstraps"), "", namespace},
		{controller, "create update patch delete", own("butlerconfigs"), "", ""},
		{controller, "patch", own("providerconfigs"), "", namespace},
		{controller, "create update patch delete", own("clusterbootstraps"), "", namespace},
		{controller, "create update patch delete", own("machinerequests"), "", namespace},
		{controller, "create update delete deletecollection", own("networkpools"), "", namespace},
		{controller, "update deletecollection", own("ipallocations"), "", namespace},
		{controller, "update deletecollection", own("addressclaims"), "", ""},
		{bootstrap + " " + harvester, "create update patch delete", own("addressclaims"), "", ""},
		{bootstrap + " " + harvester, "get list patch", own("butlerconfigs"), "", ""},
		// Leases of others.
		{bootstrap, "get update", "coordination.k8s.io/leases", controller + lease, namespace},
		{controller, "get update", "coordination.k8s.io/leases", harvester + lease, namespace},
		{harvester, "get update", "coordination.k8s.io/leases", bootstrap + lease, namespace},
		{"*", "create get update", "coordination.k8s.io/leases", "", "kube-system"},
		{"*", "delete", "coordination.k8s.io/leases", bootstrap + lease, namespace},
		// The rest of a cluster.
		{"*", "get list watch create update patch delete", "/configmaps", "", namespace},
		{"*", "get list create delete", "/pods", "", namespace},
		{"*", "create", "/pods/exec", "", namespace},
		{"*", "get list patch", "/nodes", "", ""},
		{bootstrap, "get list create patch", "/namespaces", "", ""},
		{harvester, "get list create patch", "/namespaces", "", ""},
		{"*", "get patch", "apps/deployments", "", namespace},
		{"*", "patch", "apps/deployments/scale", "", namespace},
		{"*", "create", "/serviceaccounts/token", "", namespace},
		{"*", "impersonate", "/serviceaccounts", "", namespace},
		{"*", "impersonate", "/users", "", ""},
		{"*", "impersonate", "/groups", "system:masters", ""},
		{"*", "get create update patch delete escalate bind", "rbac.authorization.k8s.io/clusterroles", "", ""},
		{"*", "get update delete escalate bind", "rbac.authorization.k8s.io/roles", "", namespace},
		{bootstrap, "create patch", "rbac.authorization.k8s.io/roles", "", namespace},
		{harvester, "create patch", "rbac.authorization.k8s.io/roles", "", namespace},
		{"*", "create update patch", "rbac.authorization.k8s.io/clusterrolebindings", "", ""},
		{"*", "update delete", "rbac.authorization.k8s.io/rolebindings", "", namespace},
		{bootstrap, "create patch", "rbac.authorization.k8s.io/rolebindings", "", namespace},
		{harvester, "create patch", "rbac.authorization.k8s.io/rolebindings", "", namespace},
		{controller, "bind", "rbac.authorization.k8s.io/clusterroles", "cluster-admin", ""},
		{"*", "get create update patch delete", "apiextensions.k8s.io/customresourcedefinitions", "", ""},
		{"*", "create patch", "admissionregistration.k8s.io/validatingwebhookconfigurations", "", ""},
		{"*", "delete", "/events", "", namespace},
		{"*", "get list", "/events", "", namespace},
	}
	for _, x := range cases {
		accounts := strings.Fields(x.accounts)
		if x.accounts == "*" {
			accounts = controllers
		}
		group, resource, _ := strings.Cut(x.resource, "/")
		for _, account := range accounts {
			for verb := range strings.FieldsSeq(x.verbs) {
				g := grant{Account: account, Namespace: x.namespace, Group: group, Resource: resource, Name: x.name, Verb: verb}
				if allowed(t, c, g) {
					t.Errorf("%s may %s %s %q in %q", account, verb, x.resource, x.name, x.namespace)
				}
			}
		}
	}
	for _, name := range controllers {
		if !allowed(t, c, grant{Account: name, Namespace: namespace, Group: "coordination.k8s.io", Resource: "leases", Name: name + lease, Verb: "update"}) {
			t.Errorf("%s may nothing at all: its lease is not its own", name)
		}
	}
}

// TestAProviderCannotReadTheKeysOfAClusterBesideItsCredentials acts as the account of
// the chart, with all Secrets in one namespace.
func TestAProviderCannotReadTheKeysOfAClusterBesideItsCredentials(t *testing.T) {
	c := installed(t)
	named := func(name string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: vault, Name: name}}
	}
	for _, name := range []string{"credentials", "mgmt-talos-secrets", "mgmt-talosconfig", "mgmt-kubeconfig"} {
		must(t, client.IgnoreAlreadyExists(c.Create(t.Context(), named(name))))
		t.Cleanup(func() { must(t, client.IgnoreNotFound(c.Delete(context.Background(), named(name)))) })
	}
	config := rest.CopyConfig(api)
	config.Impersonate.UserName = "system:serviceaccount:" + namespace + ":butler-provider-harvester"
	config.Impersonate.Groups = []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"}
	provider, err := client.New(config, client.Options{Scheme: c.Scheme()})
	must(t, err)
	for _, name := range []string{"mgmt-talos-secrets", "mgmt-talosconfig", "mgmt-kubeconfig"} {
		if err := provider.Get(t.Context(), client.ObjectKeyFromObject(named(name)), named(name)); !apierrors.IsForbidden(err) {
			t.Errorf("get %s: %v", name, err)
		}
		if err := provider.List(t.Context(), &corev1.SecretList{}, client.InNamespace(vault), client.MatchingFields{"metadata.name": name}); !apierrors.IsForbidden(err) {
			t.Errorf("list %s: %v", name, err)
		}
	}
	if err := provider.List(t.Context(), &corev1.SecretList{}, client.InNamespace(vault)); !apierrors.IsForbidden(err) {
		t.Errorf("list: %v", err)
	}
	must(t, provider.Get(t.Context(), client.ObjectKeyFromObject(named("credentials")), named("credentials")))
}

// allowed asks the API server itself.
func allowed(t *testing.T, c client.Client, g grant) bool {
	t.Helper()
	resource, sub, _ := strings.Cut(g.Resource, "/")
	r := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: "system:serviceaccount:" + namespace + ":" + g.Account,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: g.Verb, Group: g.Group, Resource: resource, Subresource: sub, Name: g.Name, Namespace: g.Namespace,
		},
	}}
	must(t, c.Create(t.Context(), r))
	return r.Status.Allowed
}

// TestARoleIsBoundToTheAccountOfItsChartAlone: no group, no other account.
func TestARoleIsBoundToTheAccountOfItsChartAlone(t *testing.T) {
	for _, name := range controllers {
		for _, o := range objects(t, name, nil) {
			subjects, ok, _ := unstructured.NestedSlice(o.Object, "subjects")
			if !ok {
				continue
			}
			want := map[string]any{"kind": "ServiceAccount", "name": name, "namespace": namespace}
			if len(subjects) != 1 || !maps.Equal(subjects[0].(map[string]any), want) {
				t.Errorf("%s %s is for %v", o.GetKind(), o.GetName(), subjects)
			}
		}
	}
}
