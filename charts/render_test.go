// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/charts"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/addon/source"
)

const (
	namespace = "butler-system"
	crds      = "butler-crds"
	version   = "v0.1.0"
)

// controllers are the charts with a Deployment.
var controllers = []string{"butler-bootstrap", "butler-controller", "butler-provider-harvester", "butler-provider-nutanix", "butler-provider-proxmox", "butler-provider-aws", "butler-provider-gcp", "butler-provider-azure"}

// provides reports whether a chart is that of a provider.
func provides(name string) bool { return strings.HasPrefix(name, "butler-provider-") }

// load brings a chart in as the program does that carries it.
func load(t testing.TB, name string) *chart.Chart {
	t.Helper()
	s, err := source.New(source.Options{Carried: charts.FS})
	must(t, err)
	a := addon.Addon{Source: addon.Source{Kind: addon.ChartCarried, Chart: name}, Version: version}
	content, err := s.Fetch(t.Context(), a, nil)
	must(t, err)
	return content.Chart
}

// render returns the objects of a chart with values, which are as if they had been
// read from a file.
func render(c *chart.Chart, given map[string]any) ([]*unstructured.Unstructured, error) {
	document, err := yaml.Marshal(given)
	if err != nil {
		return nil, err
	}
	values, err := common.ReadValues(document)
	if err != nil {
		return nil, err
	}
	release := common.ReleaseOptions{Name: c.Name(), Namespace: namespace, Revision: 1, IsInstall: true}
	all, err := util.ToRenderValues(c, values, release, nil)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(c, all)
	if err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for text := range strings.SplitSeq(files[name], "\n---\n") {
			o := &unstructured.Unstructured{}
			if err := yaml.UnmarshalStrict([]byte(text), &o.Object); err != nil {
				return nil, err
			}
			if len(o.Object) > 0 {
				out = append(out, o)
			}
		}
	}
	return out, nil
}

// objects renders a chart, or fails.
func objects(t testing.TB, name string, values map[string]any) []*unstructured.Unstructured {
	t.Helper()
	out, err := render(load(t, name), values)
	must(t, err)
	if len(out) == 0 {
		t.Fatalf("%s renders nothing", name)
	}
	return out
}

// kinds lists objects by kind and name.
func kinds(objects []*unstructured.Unstructured) (out []string) {
	for _, o := range objects {
		out = append(out, o.GetKind()+" "+o.GetName())
	}
	slices.Sort(out)
	return out
}

func find(t testing.TB, objects []*unstructured.Unstructured, kind string) *unstructured.Unstructured {
	t.Helper()
	i := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == kind })
	if i < 0 {
		t.Fatalf("no %s among %v", kind, kinds(objects))
	}
	return objects[i]
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tree is the content of all files below a folder.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, dir)] = string(data)
		return err
	}))
	return out
}

func TestCopiesAreLikeWhatTheyAreCopiesOf(t *testing.T) {
	if diff := cmp.Diff(tree(t, "../config/crd/bases"), tree(t, crds+"/definitions")); diff != "" {
		t.Errorf("run `make manifests`: the definitions of %s differ from config/crd/bases:\n%s", crds, diff)
	}
	if diff := cmp.Diff(tree(t, "../config/admission/policies"), tree(t, crds+"/policies")); diff != "" {
		t.Errorf("run `make manifests`: the policies of %s differ from config/admission/policies:\n%s", crds, diff)
	}
	library := tree(t, "butler-lib")
	schema := library["/provider.schema.json"]
	delete(library, "/hack/sync-lib.sh")
	delete(library, "/provider.schema.json")
	for _, name := range controllers {
		if diff := cmp.Diff(library, tree(t, name+"/charts/butler-lib")); diff != "" {
			t.Errorf("run `make manifests`: the library in %s differs:\n%s", name, diff)
		}
		if provides(name) && string(load(t, name).Schema) != schema {
			t.Errorf("run `make manifests`: the schema of %s is not that of the library", name)
		}
	}
}

func TestEveryChartIsCarriedWhole(t *testing.T) {
	entries, err := os.ReadDir(".")
	must(t, err)
	for _, e := range entries {
		if !e.IsDir() || e.Name() == "butler-lib" {
			continue
		}
		if e.Name() != crds && e.Name() != monitoring && !slices.Contains(controllers, e.Name()) {
			t.Errorf("%s is not tested", e.Name())
		}
		c := load(t, e.Name())
		if c.Name() != e.Name() || c.Metadata.Version != version || len(c.Templates) == 0 || c.Schema == nil {
			t.Errorf("%s is carried as %+v, with %d templates", e.Name(), c.Metadata, len(c.Templates))
		}
		if got, want := len(c.Dependencies()), len(c.Metadata.Dependencies); got != want {
			t.Errorf("%s has %d of %d dependencies", e.Name(), got, want)
		}
	}
}

func TestTheLinterHasNothingToSay(t *testing.T) {
	for _, name := range append([]string{crds, monitoring}, controllers...) {
		for _, m := range lint.RunAll(name, nil, namespace).Messages {
			if m.Severity > support.InfoSev {
				t.Errorf("%s: %v", name, m)
			}
		}
	}
}

func TestAControllerConsistsOfThis(t *testing.T) {
	for _, name := range controllers {
		want := []string{
			"ClusterRole " + name, "ClusterRoleBinding " + name, "Deployment " + name,
			"Role " + name + "-leader-election", "RoleBinding " + name + "-leader-election", "ServiceAccount " + name,
		}
		if name == "butler-bootstrap" {
			want = append(want, "Role "+name+"-clusters", "RoleBinding "+name+"-clusters")
		}
		if name == "butler-controller" {
			for _, of := range []string{"tenant", "outside", "team-admin", "team-operator", "team-viewer"} {
				want = append(want, "ClusterRole "+name+"-"+of)
			}
			want = append(want, "ValidatingAdmissionPolicy "+name+"."+v1alpha1.Group, "ValidatingAdmissionPolicyBinding "+name+"."+v1alpha1.Group)
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, kinds(objects(t, name, nil))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		want = append(want, "PodDisruptionBudget "+name)
		slices.Sort(want)
		if diff := cmp.Diff(want, kinds(objects(t, name, map[string]any{"replicaCount": 2}))); diff != "" {
			t.Errorf("two of %s: %s", name, diff)
		}
		bare := map[string]any{"rbac": map[string]any{"create": false}}
		if diff := cmp.Diff([]string{"Deployment " + name, "ServiceAccount " + name}, kinds(objects(t, name, bare))); diff != "" {
			t.Errorf("%s without roles: %s", name, diff)
		}
	}
}

// TestControllersRunWithoutWorkers: a cluster whose workers are lost has control planes alone,
// which refuse ordinary pods.
func TestControllersRunWithoutWorkers(t *testing.T) {
	want := map[string]any{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"}
	for _, name := range controllers {
		all, _, err := unstructured.NestedSlice(find(t, objects(t, name, nil), "Deployment").Object, "spec", "template", "spec", "tolerations")
		must(t, err)
		if !slices.ContainsFunc(all, func(one any) bool { return cmp.Equal(one, any(want)) }) {
			t.Errorf("%s tolerates %v", name, all)
		}
	}
}

// TestTwoOfAControllerAreOnDifferentNodes: nodes become Ready one after the other, and a mere
// preference puts both on the first one. A single one has to be replaceable on a single node.
func TestTwoOfAControllerAreOnDifferentNodes(t *testing.T) {
	for _, name := range controllers {
		for replicas, want := range map[int]string{1: "", 2: "kubernetes.io/hostname 1 2 DoNotSchedule"} {
			d := find(t, objects(t, name, map[string]any{"replicaCount": replicas}), "Deployment")
			all, _, err := unstructured.NestedSlice(d.Object, "spec", "template", "spec", "topologySpreadConstraints")
			must(t, err)
			got := ""
			for _, one := range all {
				c := one.(map[string]any)
				got += fmt.Sprint(c["topologyKey"], " ", c["maxSkew"], " ", c["minDomains"], " ", c["whenUnsatisfiable"])
			}
			if got != want {
				t.Errorf("%d of %s: %q, want %q", replicas, name, got, want)
			}
		}
	}
}

func TestEveryValueHasItsEffect(t *testing.T) {
	const own = "example.com/own"
	cases := map[string]struct {
		values string
		want   string
	}{
		"image":              {"image: {repository: example.com/own, tag: v9, pullPolicy: Always}", "image: example.com/own:v9\n        imagePullPolicy: Always"},
		"version":            {"{}", ":" + version + "\n"},
		"imagePullSecrets":   {"imagePullSecrets: [{name: own}]", "imagePullSecrets:\n      - name: own"},
		"replicaCount":       {"replicaCount: 3", "replicas: 3"},
		"logLevel":           {"logLevel: debug", "- --log-level=debug"},
		"extraArgs":          {"extraArgs: [--own=1]", "- --own=1"},
		"resources":          {"resources: {requests: {cpu: 7m}, limits: {memory: 7Gi}}", "limits:\n            memory: 7Gi\n          requests:\n            cpu: 7m"},
		"serviceAccount":     {"serviceAccount: {annotations: {example.com/own: x}}", "annotations:\n    " + own + ": x"},
		"podAnnotations":     {"podAnnotations: {example.com/own: x}", "annotations:\n        " + own + ": x"},
		"priorityClassName":  {"priorityClassName: own", "priorityClassName: own"},
		"nodeSelector":       {"nodeSelector: {own: x}", "nodeSelector:\n        own: x"},
		"tolerations":        {"tolerations: [{operator: Exists}]", "tolerations:\n      - operator: Exists"},
		"butler-lib, global": {"{butler-lib: {}, global: {registry: x}}", "kind: Deployment"},
	}
	for _, name := range controllers {
		for value, c := range cases {
			values := map[string]any{}
			must(t, yaml.Unmarshal([]byte(c.values), &values))
			if got := text(t, objects(t, name, values)); !strings.Contains(got, c.want) {
				t.Errorf("%s with %s has no\n%s\nin\n%s", name, value, c.want, got)
			}
		}
	}
}

func text(t *testing.T, objects []*unstructured.Unstructured) string {
	t.Helper()
	var out strings.Builder
	for _, o := range objects {
		data, err := yaml.Marshal(o.Object)
		must(t, err)
		out.Write(data)
	}
	return out.String()
}

func TestWhatIsNoValueIsRefused(t *testing.T) {
	for _, values := range []string{
		"replicas: 2", "replicaCount: two", "replicaCount: -1", "image: {tag: latest}", "image: {tag: 'a b'}", "image: {name: x}", "image: {repository: ''}",
		"image: {pullPolicy: Sometimes}", "imagePullSecrets: [x]", "logLevel: loud", "extraArgs: [x]", "resources: {cpu: 1}",
		"rbac: {create: 'yes'}", "clusterNamespaces: [Upper]", "credentialsNamespaces: x", "credentialsNamespaces: ['*']", "credentialsSecrets: [a]", "credentialsSecrets: ['a/*']", "credentialsSecrets: a/b", "serviceAccount: {name: x}", "podAnnotations: {x: 1}", "nodeSelector: {x: true}", "tolerations: [x]", "butler-lib: {replicaCount: 2}",
	} {
		for _, name := range controllers {
			set := map[string]any{}
			must(t, yaml.Unmarshal([]byte(values), &set))
			if _, err := render(load(t, name), set); err == nil {
				t.Errorf("%s takes %s", name, values)
			}
		}
	}
	if _, err := render(load(t, crds), map[string]any{"keep": false}); err == nil {
		t.Errorf("%s takes a value", crds)
	}
}

func TestSecretsAreReachedInTheNamespacesOfTheValuesAlone(t *testing.T) {
	read, keep := "get", "get list create update delete"
	watch := "get list watch"
	cases := map[string]struct {
		chart, values string
		want          map[string]string // verbs by namespace, and name if there is one
	}{
		"provider by default":  {"butler-provider-harvester", "{}", map[string]string{}},
		"provider":             {"butler-provider-harvester", "credentialsSecrets: [b/y, a/x, b/y]", map[string]string{"a/x": watch, "b/y": watch}},
		"provider, namespaces": {"butler-provider-harvester", "credentialsNamespaces: [b, a, b]", map[string]string{"a": watch, "b": watch}},
		"bootstrap by default": {"butler-bootstrap", "{}", map[string]string{namespace: keep}},
		"bootstrap, credentials elsewhere": {
			"butler-bootstrap", "credentialsNamespaces: [a]", map[string]string{namespace: keep, "a": read},
		},
		"bootstrap, clusters elsewhere": {
			"butler-bootstrap", "clusterNamespaces: [a, b]", map[string]string{"a": keep, "b": keep, namespace: read},
		},
		"bootstrap, all in one": {
			"butler-bootstrap", "{clusterNamespaces: [a], credentialsNamespaces: [a]}", map[string]string{"a": keep},
		},
		"controller": {"butler-controller", "{}", map[string]string{}},
	}
	for name, c := range cases {
		values := map[string]any{}
		must(t, yaml.Unmarshal([]byte(c.values), &values))
		all := objects(t, c.chart, values)
		got := map[string]string{}
		for _, g := range grants(t, all) {
			if g.Resource == "secrets" {
				place := strings.TrimSuffix(g.Namespace+"/"+g.Name, "/")
				got[place] = strings.TrimSpace(got[place] + " " + g.Verb)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if !provides(c.chart) {
			continue
		}
		flag := "- --credentials-secrets=" + strings.Join(slices.Sorted(maps.Keys(c.want)), ",") + "\n"
		if strings.Contains(c.values, "credentialsNamespaces") {
			flag = strings.ReplaceAll(flag, "-secrets=", "-namespaces=")
		}
		if got := text(t, all); !strings.Contains(got, flag) {
			t.Errorf("%s: the program does not get %q", name, flag)
		}
	}
}

// TestAnotherProviderIsAScreen makes the chart of a provider from nothing but its
// name, an image and one line.
func TestAnotherProviderIsAScreen(t *testing.T) {
	const model, next = "butler-provider-harvester", "butler-provider-next"
	c := load(t, model)
	c.Metadata.Name = next
	if len(c.Templates) != 1 || strings.Count(string(c.Templates[0].Data), "\n") != 1 {
		t.Errorf("%d templates, the first of them:\n%s", len(c.Templates), c.Templates[0].Data)
	}
	got, err := render(c, map[string]any{"image": map[string]any{"repository": "example.com/" + next}})
	must(t, err)
	want := strings.ReplaceAll(text(t, objects(t, model, nil)), "ghcr.io/butlerdotdev/", "example.com/")
	if diff := cmp.Diff(strings.ReplaceAll(want, model, next), text(t, got)); diff != "" {
		t.Error(diff)
	}
}

// TestReleasesAreRefusedWhereKubernetesIsTooOld has Helm itself judge.
func TestReleasesAreRefusedWhereKubernetesIsTooOld(t *testing.T) {
	c := load(t, crds)
	for kubernetes, want := range map[string]bool{"v1.30.9": false, "v1.31.0": true, "v1.32.0": true, "v1.36.3": true, "v1.33.1-eks-1": true} {
		if got := chartutil.IsCompatibleRange(c.Metadata.KubeVersion, kubernetes); got != want {
			t.Errorf("%s %s on %s: %v", crds, c.Metadata.KubeVersion, kubernetes, got)
		}
	}
}

func TestEveryValueIsOnThePageOfItsChart(t *testing.T) {
	for _, name := range controllers {
		page, err := os.ReadFile(filepath.Join(name, "README.md"))
		must(t, err)
		all := values("", load(t, name).Values)
		for path, value := range all {
			if !strings.Contains(string(page), "\n| `"+path+"` | "+value) {
				t.Errorf("the page of %s does not say that `%s` is %s", name, path, value)
			}
		}
		if rows := strings.Count(string(page), "\n| `"); rows != len(all) {
			t.Errorf("the page of %s has %d values, the chart %d", name, rows, len(all))
		}
	}
}

// values by their paths, as a page has them; quantities are together on one
// line.
func values(prefix string, all map[string]any) map[string]string {
	out := map[string]string{}
	for key, value := range all {
		inner, ok := value.(map[string]any)
		switch {
		case ok && (key == "requests" || key == "limits"):
			out[prefix+key] = quantities(inner)
		case ok && len(inner) > 0:
			maps.Copy(out, values(prefix+key+".", inner))
		case key == "tag":
			out[prefix+key] = "the version of the chart |"
		case value == "":
			out[prefix+key] = "|"
		case ok:
			out[prefix+key] = "`{}` |"
		default:
			out[prefix+key] = fmt.Sprintf("`%v` |", value)
		}
	}
	return out
}

func quantities(all map[string]any) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		out = append(out, fmt.Sprintf("`%s: %v`", key, all[key]))
	}
	return strings.Join(out, ", ") + " |"
}

// TestEveryRightIsOnThePageOfItsChart is about the kinds; what may be done with
// them is said in words.
func TestEveryRightIsOnThePageOfItsChart(t *testing.T) {
	kinds := map[string]string{
		"machinerequests": "MachineRequest", "loadbalancerrequests": "LoadBalancerRequest", "providerconfigs": "ProviderConfig",
		"clusterbootstraps": "ClusterBootstrap", "butlerconfigs": "ButlerConfig", "ingressclasses": "IngressClass", "gateways": "Gateway", "tlsroutes": "TLSRoute", "ingresses": "Ingress",
		"networkpools": "NetworkPool", "ipallocations": "IPAllocation", "addressclaims": "AddressClaim",
		"tenantclusters": "TenantCluster", "teams": "Team", "namespaces": "Namespace", "roles": "Role", "rolebindings": "RoleBinding", "clusterroles": "ClusterRole", "clusters": "Cluster", "machinedeployments": "MachineDeployment", "machines": "Machine", "machinesets": "MachineSet", "stewardcontrolplanes": "StewardControlPlane", "kamajicontrolplanes": "KamajiControlPlane",
		"secrets": "Secret", "services": "Service", "events": "Event", "leases": "Lease",
	}
	for _, name := range controllers {
		page, err := os.ReadFile(filepath.Join(name, "README.md"))
		must(t, err)
		_, rights, _ := strings.Cut(string(page), "\n## Rights\n")
		for _, g := range grants(t, objects(t, name, nil)) {
			resource, _, _ := strings.Cut(g.Resource, "/")
			if g.Group == "infrastructure.cluster.x-k8s.io" {
				resource = "clusters" // they are on the page as one
			}
			if kind := kinds[resource]; kind == "" || !strings.Contains(rights, kind) {
				t.Errorf("the page of %s does not have %s among the rights", name, resource)
			}
		}
	}
}

// ofAll are the charts of clusters on every provider.
func ofAll(t testing.TB) (all []addon.Addon) {
	t.Helper()
	for _, name := range controllers {
		if !provides(name) {
			continue
		}
		for _, a := range ha(t, v1alpha1.ProviderType(strings.TrimPrefix(name, "butler-provider-"))) {
			if !slices.ContainsFunc(all, func(known addon.Addon) bool { return known.Source.Chart == a.Source.Chart }) {
				all = append(all, a)
			}
		}
	}
	return all
}

// ha are the charts of this project on a cluster.
func ha(t testing.TB, on v1alpha1.ProviderType) []addon.Addon {
	t.Helper()
	spec := v1alpha1.ClusterBootstrapSpec{Provider: on}
	spec.Cluster.Name, spec.Cluster.Topology = "mgmt", v1alpha1.TopologyHA
	spec.Cluster.ControlPlane.Replicas, spec.Cluster.Workers = 3, &v1alpha1.NodePool{Replicas: 2}
	spec.Network.VIP = "10.40.0.200"
	spec.Network.LoadBalancerPool = &v1alpha1.AddressRange{Start: "10.40.0.210", End: "10.40.0.250"}
	all, err := addon.For(spec, addon.Facts{
		Endpoint: "10.40.0.200", KubernetesVersion: "v1.32.0", Version: version,
		Platform: v1alpha1.ProviderConfigSpec{CredentialsRef: &v1alpha1.SecretReference{Name: "credentials", Namespace: vault}},
	})
	must(t, err)
	return slices.DeleteFunc(all, func(a addon.Addon) bool { return a.Source.Kind != addon.ChartCarried })
}

func TestTheCatalogueInstallsEachOfThem(t *testing.T) {
	var got []string
	for _, a := range ofAll(t) {
		got = append(got, a.Source.Chart)
		if _, err := render(load(t, a.Source.Chart), a.Values); err != nil {
			t.Errorf("%s with the values of a cluster: %v", a.Key, err)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(slices.Sorted(slices.Values(append([]string{crds}, controllers...))), got); diff != "" {
		t.Error(diff)
	}
}
