// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/tenant"
)

// record is the file with all that was asked of the API server.
var record string

// recorded are the arguments of an API server that keeps a record, in a directory.
func recorded(dir string) ([]string, error) {
	policy := filepath.Join(dir, "policy.yaml")
	record = filepath.Join(dir, "record.jsonl")
	const text = "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived, Panic]\nrules:\n  - level: Metadata\n    userGroups: [\"system:masters\"]\n  - level: None\n"
	return []string{"--audit-policy-file=" + policy, "--audit-log-path=" + record}, os.WriteFile(policy, []byte(text), 0o600)
}

// right is one thing that a role allows.
type right struct{ Group, Resource, Verb string }

// TestEveryRightForTenantsIsUsed lets a tenant live its life, with a creation that was
// interrupted, and compares what was asked with what the roles of the chart allow. The rights of
// platforms other than Harvester, and of Kamaji, are the same for kinds with other names: a test
// of package charts compares the names.
func TestEveryRightForTenantsIsUsed(t *testing.T) {
	f := newFixture(t)
	f.team(v1alpha1.TeamResourceLimits{})
	tc := f.ready(f.inTeam("one"))
	f.change(tc, func(tc *v1alpha1.TenantCluster) {
		tc.Spec.Workers.MachineTemplate.Memory, tc.Spec.TimeServers = resource.MustParse("8Gi"), []string{"time.example.com"}
	})
	f.until(tc, isReady)
	f.Await(func() error {
		var data corev1.SecretList
		f.Must(f.List(t.Context(), &data, client.InNamespace(tc.Status.TenantNamespace), client.MatchingLabels{labelData: "true"}))
		if n := len(f.player.all(t.Context(), templateKind)); n != 1 || len(data.Items) != 1 {
			return fmt.Errorf("%d templates, %d configurations", n, len(data.Items))
		}
		return nil
	})
	f.gone(tc)
	f.interrupted()
	done := asked(t)
	for _, r := range rightsOfTenants(t) {
		if !slices.ContainsFunc(sameAs(r), func(r right) bool { return done[r] }) {
			t.Errorf("%s may %s %s of %q and never does", Owner, r.Verb, r.Resource, r.Group)
		}
	}
}

// interrupted deletes a cluster whose Cluster is gone, and whose other objects are not.
func (f *fixture) interrupted() {
	f.Helper()
	f.player.set(func(p *player) { p.noControlPlane, p.orphans = true, true })
	tc := f.inTeam("two")
	f.Must(f.Create(f.Context(), tc))
	tc = f.until(tc, func(tc *v1alpha1.TenantCluster) bool {
		return condition(tc, v1alpha1.ConditionControlPlaneReady).Reason == "WaitingForEndpoint"
	})
	machine := map[string]any{"clusterName": tc.Name, "bootstrap": map[string]any{"dataSecretName": "a"}, "infrastructureRef": map[string]any{"kind": "A", "name": "a", "apiVersion": "b/v1"}}
	template := map[string]any{"clusterName": tc.Name, "selector": map[string]any{}, "template": map[string]any{"spec": machine}}
	for kind, spec := range map[schema.GroupVersionKind]map[string]any{
		deploymentKind: template, setKind: template, machineKind: machine, kubevirtKind: {},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
		o.SetGroupVersionKind(kind)
		o.SetNamespace(tc.Status.TenantNamespace)
		o.SetName(tenant.Workers(tc.Name))
		f.Must(f.Create(f.Context(), o))
	}
	f.gone(tc)
}

var setKind = schema.GroupVersionKind{Group: coreGroup, Version: "v1beta1", Kind: "MachineSet"}

// sameAs are the rights whose use shows that a right is needed: to list and to watch are one,
// and a list has what a get has.
func sameAs(r right) []right {
	verbs := map[string][]string{"list": {"list", "watch"}, "watch": {"list", "watch"}, "get": {"get", "list", "watch"}}
	all, ok := verbs[r.Verb]
	if !ok || r.Resource == "secrets" {
		return []right{r}
	}
	var out []right
	for _, verb := range all {
		out = append(out, right{r.Group, r.Resource, verb})
	}
	return out
}

// rightsOfTenants are those of the chart's roles that tenant clusters need: on Harvester, with
// Steward.
func rightsOfTenants(t *testing.T) (out []right) {
	t.Helper()
	for _, role := range chartRoles(t) {
		if role.Name != Owner && role.Name != secretsRole {
			continue
		}
		for _, rule := range role.Rules {
			for _, r := range expand(rule) {
				if ofTenants(r) {
					out = append(out, r)
				}
			}
		}
	}
	if len(out) < 30 {
		t.Fatalf("the roles of the chart have %d rights for tenants", len(out))
	}
	return out
}

func ofTenants(r right) bool {
	resources := []string{"tenantclusters", "tenantclusters/status", "teams/status", "namespaces", "roles", "rolebindings", "secrets"}
	if strings.HasSuffix(r.Group, coreGroup) {
		kinds := []string{"clusters", "machinedeployments", "machines", "machinesets", "stewardcontrolplanes", "kubevirtclusters", "kubevirtmachinetemplates", "kubevirtclusters/status"}
		return slices.Contains(kinds, r.Resource)
	}
	return slices.Contains(resources, r.Resource)
}

func expand(rule rbacv1.PolicyRule) (out []right) {
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				out = append(out, right{group, resource, verb})
			}
		}
	}
	return out
}

func chartRoles(t *testing.T) (out []rbacv1.ClusterRole) {
	t.Helper()
	data, err := os.ReadFile("../../../config/rbac/butler-controller.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(data), "\n---\n") {
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal([]byte(document), &role); err != nil {
			t.Fatal(err)
		}
		if role.Kind == "ClusterRole" {
			out = append(out, role)
		}
	}
	return out
}

// asked is what the account of the chart has asked for.
func asked(t *testing.T) map[right]bool {
	t.Helper()
	file, err := os.Open(record)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	out := map[right]bool{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Verb             string
			ImpersonatedUser struct{ Username string }
			ObjectRef        struct{ APIGroup, Resource, Subresource string }
			ResponseStatus   struct{ Code int }
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		if line.ImpersonatedUser.Username == account && line.ResponseStatus.Code < 400 {
			o := line.ObjectRef
			r := right{o.APIGroup, strings.TrimSuffix(o.Resource+"/"+o.Subresource, "/"), line.Verb}
			out[r] = true
			if line.ResponseStatus.Code == http.StatusCreated {
				r.Verb = "create" // what is applied first
				out[r] = true
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
