// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/ui"
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

func TestDestroyIsAccountedFor(t *testing.T) {
	a := newAdm(t)
	manifest := file(t, "single.yaml", edited(t, example)+addonsNone)
	a.ok("bootstrap", "harvester", "-c", manifest, "--rehearse")
	dir := filepath.Join(a.home, "rehearsals", "dev-cluster")
	platform := a.platform("dev-cluster")
	machine := a.expectOneMachine()

	t.Run("a dry run shows it and changes nothing", func(t *testing.T) {
		out := a.ok("destroy", "dev-cluster", "--dry-run").out
		for _, want := range []string{"dev-cluster-cp-0  Running  machine, disk\n", "held by the platform: 1 machine, 1 disk\n", "To delete all of it: butleradm destroy dev-cluster\n"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
		for line := range strings.Lines(out) {
			if utf8.RuneCountInString(line) > ui.Columns+1 {
				t.Errorf("too wide: %q", line)
			}
		}
		if again := a.expectOneMachine(); again != machine {
			t.Errorf("machine %s became %s", machine, again)
		}
	})
	t.Run("no answer is no", func(t *testing.T) {
		a.run("destroy", "dev-cluster").expect(t, 2, "Delete cluster dev-cluster? [y/N]", "nothing was deleted; answer y, or pass --yes")
	})
	t.Run("it is not forgotten while the platform holds it", func(t *testing.T) {
		for _, args := range [][]string{{}, {"--yes"}, {"--even-if-left"}} {
			a.run(append([]string{"forget", "dev-cluster"}, args...)...).expect(t, 1,
				"the platform still holds 1 machine, 1 disk of dev-cluster; destroy it first: butleradm destroy dev-cluster", "pass --yes --even-if-left")
		}
		a.expectOneMachine()
	})

	t.Run("what something else needs stays", func(t *testing.T) {
		a.withPlane(filepath.Join(dir, "plane"), func(api client.Client) {
			if err := api.Create(t.Context(), besides()); err != nil {
				t.Fatal(err)
			}
			a.run("destroy", "dev-cluster", "--dry-run").expect(t, 2,
				"ProviderConfig harvester-dev serves more than dev-cluster; nothing was deleted; delete that first: MachineRequest butler-system/beside")
			if err := api.Delete(t.Context(), besides()); err != nil {
				t.Fatal(err)
			}
		})
	})
	t.Run("the id of another cluster deletes nothing of it", func(t *testing.T) {
		copied := tags(clusterID(t, platform), "copied")
		copied[v1alpha1.LabelCluster] = "first-cluster"
		plant(t, platform, "copied-root", copied)
		a.run("destroy", "dev-cluster", "--yes").expect(t, 2, "is not that of dev-cluster alone: first-cluster has 1 disk under it; nothing was deleted")
		if left := disks(t, platform); len(left) != 2 {
			t.Errorf("left: %v", left)
		}
		if err := platform.Resource(volumeClaims).Namespace("default").Delete(t.Context(), "copied-root", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	})

	// Somebody has cut a disk of ours off its request, and has one of their own.
	plant(t, platform, "lost-root", tags(clusterID(t, platform), "lost"))
	plant(t, platform, "strangers-root", tags(another, "strangers"))
	plant(t, platform, "untagged", nil)
	// The platform's own restore copies the labels of a disk to one of another name.
	restored := tags(clusterID(t, platform), "dev-cluster-cp-0")
	plant(t, platform, "restore-forensic", restored)
	r := a.ok("destroy", "dev-cluster", "--yes")
	r.expectLedger(t, "created 3, deleted 3, left 0: 1 machine, 2 disks")
	r.expect(t, 0, "kept: disk restore-forensic (copied on the platform with our tags, not created by Butler)",
		"dev-cluster is destroyed; nothing is left on the platform", "stop it with: butleradm sim stop dev-cluster")
	if left := disks(t, platform); !slices.Equal(left, []string{"restore-forensic", "strangers-root", "untagged"}) {
		t.Errorf("left: %v", left)
	}
	t.Run("the ledger stays", func(t *testing.T) {
		r := a.ok("destroy", "dev-cluster", "--yes")
		r.expectLedger(t, "created 3, deleted 3, left 0: 1 machine, 2 disks")
		r.expect(t, 0, "dev-cluster does not exist")
	})
	t.Run("what is asked about is what goes", func(t *testing.T) {
		cmd, _, said := a.command("forget", "dev-cluster")
		answer, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		waitFor(t, func() bool { return strings.Contains(said.String(), "[y/N]") })
		a.run("bootstrap", "harvester", "-c", manifest, "--rehearse").expect(t, 1, "is in use by butleradm forget dev-cluster (pid ")
		_ = answer.Close()
		_ = cmd.Wait()
		result{cmd.ProcessState.ExitCode(), "", said.String()}.expect(t, 2, "nothing was removed")
	})
	t.Run("only a ledger that came to its end is trusted", func(t *testing.T) {
		a.withPlane(filepath.Join(dir, "plane"), func(api client.Client) {
			ledger := &corev1.ConfigMap{}
			if err := api.Get(t.Context(), client.ObjectKey{Namespace: system, Name: "dev-cluster-ledger"}, ledger); err != nil {
				t.Fatal(err)
			}
			delete(ledger.Data, "complete")
			if err := api.Update(t.Context(), ledger); err != nil {
				t.Fatal(err)
			}
		})
		const want = "dev-cluster is gone from its plane, but the platform has not confirmed that nothing is left of it"
		a.run("destroy", "dev-cluster", "--yes").expect(t, 1, want, "butleradm destroy -c FILE --orphans")
		a.run("forget", "dev-cluster", "--yes").expect(t, 1, want, "pass --yes --even-if-left")
	})
	a.ok("forget", "dev-cluster", "--yes", "--even-if-left")
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s: %v", dir, err)
	}
	if out := a.ok("sim", "list").out; strings.Contains(out, "dev-cluster") {
		t.Errorf("still runs:\n%s", out)
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
		"name and manifest":          {[]string{"destroy", "x", "-c", example, "--orphans"}, "a cluster and a manifest exclude each other"},
		"id without orphans":         {[]string{"destroy", "x", "--cluster-id", another}, "--cluster-id requires --orphans"},
		"id that is none":            {[]string{"destroy", "x", "--orphans", "--cluster-id", "7"}, "--cluster-id must be a UUID"},
		"id in another form":         {[]string{"destroy", "x", "--orphans", "--cluster-id", "{" + another + "}"}, "--cluster-id must be a UUID"},
		"credentials of a rehearsal": {[]string{"destroy", "-c", example, "--orphans", "--rehearse", "--credentials", example}, "a rehearsal reads no credentials"},
		"gone without a plane":       {[]string{"destroy", "x", "--orphans", "--even-if-gone"}, "--even-if-gone and --orphans exclude each other"},
		"both kinds":                 {[]string{"destroy", "-c", example, "--orphans", "--rehearse", "--real"}, "exclude each other"},
		"no manifest there":          {[]string{"destroy", "-c", "/no/such.yaml", "--orphans"}, "no such file"},
		"no credentials":             {[]string{"destroy", "-c", example, "--orphans", "--yes"}, "there are no credentials for harvester"},
		"forget two":                 {[]string{"forget", "a", "b"}, "takes the name of one cluster"},
	} {
		t.Run(reason, func(t *testing.T) { a.run(c.args...).expect(t, 2, c.want) })
	}
	a.run("destroy", "-c", example, "--orphans", "--rehearse", "--yes").expect(t, 1, "there is no simulated platform in ")
	a.run("forget", "nobody", "--yes").expect(t, 1, `there is no cluster "nobody"`)
	if left, err := filepath.Glob(filepath.Join(a.home, "*", "*")); err != nil || len(left) != 0 {
		t.Errorf("state was left: %v, %v", left, err)
	}
}
