// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// another is the id of a second cluster of the same name.
const another = "11111111-2222-4333-8444-555555555555"

// plant puts a disk on the platform, labelled as the driver labels.
func plant(t *testing.T, platform dynamic.Interface, name string, labels map[string]any) {
	t.Helper()
	disk := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "PersistentVolumeClaim",
		"metadata": map[string]any{"name": name, "labels": labels},
		"spec": map[string]any{
			"accessModes": []any{"ReadWriteMany"}, "volumeMode": "Block",
			"resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}},
		},
	}}
	if _, err := platform.Resource(volumeClaims).Namespace("default").Create(t.Context(), disk, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// tags are the labels of what belongs to a cluster of the example's name.
func tags(clusterID, machine string) map[string]any {
	return map[string]any{
		v1alpha1.AnnotationClusterID: clusterID, v1alpha1.LabelCluster: "dev-cluster",
		v1alpha1.AnnotationOwnerID: "owner-of-" + machine, v1alpha1.Group + "/machine": machine,
	}
}

// disks are the names of all disks on the platform.
func disks(t *testing.T, platform dynamic.Interface) (out []string) {
	t.Helper()
	list, err := platform.Resource(volumeClaims).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range list.Items {
		if item.GetDeletionTimestamp() == nil {
			out = append(out, item.GetName())
		}
	}
	slices.Sort(out)
	return out
}

// clusterID is that of the machine of a rehearsal.
func clusterID(t *testing.T, platform dynamic.Interface) string {
	t.Helper()
	list, err := platform.Resource(virtualMachines).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("%d machines, %v", len(list.Items), err)
	}
	return list.Items[0].GetLabels()[v1alpha1.AnnotationClusterID]
}

// expect looks at how a command ended, and at what it said on standard error,
// whose words are joined by single blanks.
func (r result) expect(t *testing.T, code int, want ...string) {
	t.Helper()
	for _, w := range want {
		if r.code != code || !strings.Contains(oneLine(r.err), w) {
			t.Errorf("exit %d, want %d with %q:\n%s%s", r.code, code, w, r.out, r.err)
		}
	}
}

// expectLedger looks at the last line of standard output.
func (r result) expectLedger(t *testing.T, want string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	if last := lines[len(lines)-1]; r.code != 0 || last != want {
		t.Errorf("exit %d with %q, want %q\n%s", r.code, last, want, r.err)
	}
}

// besides is a request of a machine that is no cluster's.
func besides() *v1alpha1.MachineRequest {
	return &v1alpha1.MachineRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "beside"},
		Spec: v1alpha1.MachineRequestSpec{
			ProviderRef: v1alpha1.ProviderReference{Name: "harvester-dev"}, MachineName: "beside", Role: v1alpha1.RoleWorker,
			CPU: 1, MemoryMB: 2048, DiskGB: 20,
		},
	}
}

func TestDestroyRefusesWhatDoesNotFit(t *testing.T) {
	a := newAdm(t)
	for reason, c := range map[string]struct {
		args []string
		want string
	}{
		"manifest without orphans":   {[]string{"destroy", "-c", example}, "-c FILE requires --orphans"},
		"name and manifest":          {[]string{"destroy", "x", "-c", example, "--orphans"}, "a cluster and a manifest are mutually exclusive"},
		"id without orphans":         {[]string{"destroy", "x", "--cluster-id", another}, "--cluster-id requires --orphans"},
		"id that is none":            {[]string{"destroy", "-c", example, "--orphans", "--cluster-id", "7"}, "--cluster-id must be a UUID"},
		"id in another form":         {[]string{"destroy", "-c", example, "--orphans", "--cluster-id", "{" + another + "}"}, "--cluster-id must be a UUID"},
		"credentials of a rehearsal": {[]string{"destroy", "-c", example, "--orphans", "--rehearse", "--credentials", example}, "a rehearsal reads no credentials"},
		"gone without a plane":       {[]string{"destroy", "-c", example, "--orphans", "--even-if-gone"}, "--even-if-gone and --orphans are mutually exclusive"},
		"both kinds":                 {[]string{"destroy", "-c", example, "--orphans", "--rehearse", "--real"}, "are mutually exclusive"},
		"no manifest there":          {[]string{"destroy", "-c", "/no/such.yaml", "--orphans"}, "no such file"},
		"no credentials":             {[]string{"destroy", "-c", example, "--orphans", "--yes"}, "there are no credentials for harvester"},
		"forget two":                 {[]string{"forget", "a", "b"}, "takes the name of one cluster"},
	} {
		t.Run(reason, func(t *testing.T) { a.run(c.args...).expect(t, 2, c.want) })
	}
	a.run("destroy", "-c", example, "--orphans", "--rehearse", "--yes").expect(t, 1, "there is no simulated platform in ")
	a.run("forget", "absent", "--yes").expect(t, 1, `there is no cluster "absent"`)
	if left, err := filepath.Glob(filepath.Join(a.home, "*", "*")); err != nil || len(left) != 0 {
		t.Errorf("state was left: %v, %v", left, err)
	}
}
