// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rehearsals

package cli_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/ui"
)

// TestDestroyContinuesWithoutTheClusterBootstrap has a cluster whose ClusterBootstrap
// is gone, as after a destroy that was killed, in a namespace of its own.
func TestDestroyContinuesWithoutTheClusterBootstrap(t *testing.T) {
	a := newAdm(t)
	manifest := file(t, "single.yaml", edited(t, example, "namespace: butler-system", "namespace: elsewhere")+addonsNone)
	bootstrap := []string{"bootstrap", "harvester", "-c", manifest, "--rehearse"}
	a.ok(bootstrap...)
	plane := filepath.Join(a.home, "rehearsals", "dev-cluster", "plane")
	a.withPlane(plane, func(api client.Client) {
		cb := &v1alpha1.ClusterBootstrap{}
		if err := api.Get(t.Context(), client.ObjectKey{Namespace: "elsewhere", Name: "dev-cluster"}, cb); err != nil {
			t.Fatal(err)
		}
		cb.Finalizers = nil
		if err := errors.Join(api.Update(t.Context(), cb), api.Delete(t.Context(), cb)); err != nil {
			t.Fatal(err)
		}
	})
	a.run(bootstrap...).expect(t, 2, "dev-cluster is not destroyed completely; finish that first: butleradm destroy dev-cluster")
	a.run("status", "dev-cluster").expect(t, 1, "dev-cluster is not destroyed completely; finish that first: butleradm destroy dev-cluster")
	a.run("forget", "dev-cluster", "--yes").expect(t, 1, "the platform still holds 1 machine, 1 disk of dev-cluster")
	a.ok("destroy", "dev-cluster", "--yes").expectLedger(t, "created 2, deleted 2, left 0: 1 machine, 1 disk")
	a.expectNothingOnThePlatform("dev-cluster")
	a.ok(bootstrap...)
	a.ok("destroy", "dev-cluster", "--yes").expectLedger(t, "created 2, deleted 2, left 0: 1 machine, 1 disk")
	a.ok("forget", "dev-cluster", "--yes")
}

func TestOrphansAreFoundByTheirTags(t *testing.T) {
	a := newAdm(t)
	manifest := file(t, "single.yaml", edited(t, example)+addonsNone)
	a.ok("bootstrap", "harvester", "-c", manifest, "--rehearse")
	platform := a.platform("dev-cluster")
	id := clusterID(t, platform)
	plane := filepath.Join(a.home, "rehearsals", "dev-cluster", "plane")
	sweep := func(more ...string) result {
		return a.run(append([]string{"destroy", "-c", manifest, "--orphans", "--rehearse"}, more...)...)
	}

	sweep("--yes").expect(t, 2, "is in charge of dev-cluster; use it: butleradm destroy dev-cluster", "--cluster-id "+id+" --yes")
	a.run("destroy", "dev-cluster", "--orphans", "--yes").expect(t, 2, "is in charge of dev-cluster")
	a.withPlane(plane, func(client.Client) {
		sweep("--yes", "--cluster-id", id).expect(t, 1, "is in use by butleradm plane (pid ")
	})
	a.expectOneMachine()
	if err := os.WriteFile(filepath.Join(plane, "etcd", "data", "member", "snap", "db"), []byte("spoilt"), 0o600); err != nil {
		t.Fatal(err)
	}
	sweep("--yes").expect(t, 1, "whether it is in charge: ", "butleradm destroy -c FILE --orphans --dry-run prints the cluster id")
	if r := sweep("--dry-run"); r.code != 0 || !strings.Contains(r.out, "(cluster id "+id+")") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	if err := os.RemoveAll(plane); err != nil {
		t.Fatal(err)
	}

	r := sweep("--dry-run")
	if want := "dev-cluster-cp-0  Running  machine, disk\n"; r.code != 0 || !strings.Contains(r.out, want) {
		t.Errorf("exit %d, no %q in\n%s%s", r.code, want, r.out, r.err)
	}
	a.expectOneMachine()
	plant(t, platform, "of-another-root", tags(another, "of-another"))
	sweep("--yes").expect(t, 2, "holds 2 clusters of the name dev-cluster: ", another+" 1 disk", id+" 1 machine, 1 disk", "select one with --cluster-id ID; nothing was deleted")
	sweep("--yes", "--cluster-id", "x").expect(t, 2, "--cluster-id must be a UUID")
	sweep("--yes", "--cluster-id", id).expectLedger(t, "found 2, deleted 2, left 0: 1 machine, 1 disk")
	if left := disks(t, platform); !slices.Equal(left, []string{"of-another-root"}) {
		t.Errorf("left: %v", left)
	}
	sweep("--yes").expectLedger(t, "found 1, deleted 1, left 0: 1 disk")
	r = sweep("--yes")
	r.expectLedger(t, "found 0, deleted 0, left 0")
	r.expect(t, 0, "harvester-dev holds nothing of dev-cluster; nothing was changed")
	a.run("forget", "dev-cluster", "--yes").expect(t, 1, "the local plane is lost, so it is not known what the platform holds of dev-cluster")
	a.ok("forget", "dev-cluster", "--yes", "--even-if-left")
}

// TestRefusedCredentialsAreReportedAtOnce goes the way of a real cluster whose login
// has been taken away, and then that of one which is deleted with kubectl.
func TestRefusedCredentialsAreReportedAtOnce(t *testing.T) {
	a := newAdm(t)
	dir := a.startPlatform()
	good := a.kubeconfig(dir, func(*clientcmdapi.Config) {})
	wrong := a.kubeconfig(dir, func(c *clientcmdapi.Config) {
		for _, u := range c.AuthInfos {
			*u = clientcmdapi.AuthInfo{Token: "unknown"}
		}
	})
	manifest := file(t, "real.yaml", edited(t, example)+addonsNone)
	bootstrap := []string{"bootstrap", "harvester", "-c", manifest, "--yes", "--credentials", good}
	plane := filepath.Join(a.home, "clusters", "dev-cluster", "plane")
	data, err := os.ReadFile(filepath.Join(dir, "admin.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	platform := dynamic.NewForConfigOrDie(a.config(data))
	cmd, out, problems := a.command(bootstrap...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return strings.Contains(problems.String(), "dev-cluster-cp-0 Running at 192.0.2.") })
	// No other process sweeps while one works on it.
	a.run("destroy", "-c", manifest, "--orphans", "--yes", "--credentials", good, "--cluster-id", clusterID(t, platform)).expect(t, 1, "is in use by butleradm bootstrap dev-cluster (pid ")
	_ = cmd.Process.Signal(os.Interrupt)
	_ = cmd.Wait()
	if cmd.ProcessState.ExitCode() != 130 {
		t.Fatalf("exit %d\n%s%s", cmd.ProcessState.ExitCode(), out, problems)
	}

	refused, err := os.ReadFile(wrong)
	if err != nil {
		t.Fatal(err)
	}
	a.withPlane(plane, func(api client.Client) {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "butler-system", Name: "harvester-kubeconfig"}}
		if err := api.Get(t.Context(), client.ObjectKeyFromObject(secret), secret); err != nil {
			t.Fatal(err)
		}
		secret.Data["kubeconfig"] = refused
		if err := api.Update(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
	})
	// Those of another platform are accepted there, but it says nothing of the cluster.
	other := a.kubeconfig(a.startPlatformIn("another"), func(*clientcmdapi.Config) {})
	a.run("destroy", "dev-cluster", "--yes", "--credentials", other).expect(t, 1,
		"list what the platform holds of dev-cluster: use ProviderConfig harvester-dev: the credentials are for another platform",
		"restore the credentials and the endpoint of the first platform", "nothing was deleted")
	a.run("destroy", "dev-cluster", "--yes").expect(t, 1, "nothing was deleted; pass other credentials: butleradm destroy dev-cluster --credentials FILE")
	a.run("forget", "dev-cluster", "--yes").expect(t, 1, "list what the platform holds of dev-cluster", "pass --yes --even-if-left")
	if left := disks(t, platform); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
	a.run("destroy", "dev-cluster", "--yes", "--credentials", good).expectLedger(t, "created 2, deleted 2, left 0: 1 machine, 1 disk")
	if left := disks(t, platform); len(left) != 0 {
		t.Errorf("left: %v", left)
	}

	cmd, out, problems = a.command(bootstrap...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return strings.Contains(problems.String(), "dev-cluster-cp-0 Running at 192.0.2.") })
	plant(t, platform, "lost-root", tags(clusterID(t, platform), "lost"))
	api := a.planeClient(plane)
	if err := api.Delete(t.Context(), &v1alpha1.ClusterBootstrap{ObjectMeta: metav1.ObjectMeta{Namespace: "butler-system", Name: "dev-cluster"}}); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	result{cmd.ProcessState.ExitCode(), out.String(), problems.String()}.expect(t, 1, "dev-cluster was deleted in the meantime, and is destroyed; nothing is left on the platform")
	const account = "created 3, deleted 3, left 0: 1 machine, 2 disks"
	if last := strings.TrimSpace(out.String()); last != account {
		t.Errorf("the ledger is %q", last)
	}
	if left := disks(t, platform); len(left) != 0 {
		t.Errorf("left after kubectl delete: %v", left)
	}
	r := a.run("destroy", "dev-cluster", "--yes")
	r.expect(t, 0, "dev-cluster does not exist")
	r.expectLedger(t, account)
	a.ok("forget", "dev-cluster", "--yes")
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
				"ProviderConfig harvester-dev is used by more than dev-cluster; nothing was deleted; delete that first: MachineRequest butler-system/beside")
			if err := api.Delete(t.Context(), besides()); err != nil {
				t.Fatal(err)
			}
		})
	})
	t.Run("the id of another cluster deletes nothing of it", func(t *testing.T) {
		copied := tags(clusterID(t, platform), "copied")
		copied[v1alpha1.LabelCluster] = "first-cluster"
		plant(t, platform, "copied-root", copied)
		a.run("destroy", "dev-cluster", "--yes").expect(t, 2, "does not belong to dev-cluster alone: first-cluster has 1 disk with it; nothing was deleted")
		if left := disks(t, platform); len(left) != 2 {
			t.Errorf("left: %v", left)
		}
		if err := platform.Resource(volumeClaims).Namespace("default").Delete(t.Context(), "copied-root", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	})

	// A user has detached a disk of the cluster from its request, and has one of their own.
	plant(t, platform, "lost-root", tags(clusterID(t, platform), "lost"))
	plant(t, platform, "second-root", tags(another, "second"))
	plant(t, platform, "untagged", nil)
	// The platform's own restore copies the labels of a disk to one of another name.
	restored := tags(clusterID(t, platform), "dev-cluster-cp-0")
	plant(t, platform, "restore-forensic", restored)
	r := a.ok("destroy", "dev-cluster", "--yes")
	r.expectLedger(t, "created 3, deleted 3, left 0: 1 machine, 2 disks")
	r.expect(t, 0, "kept: disk restore-forensic (copied on the platform with our tags, not created by Butler)",
		"dev-cluster is destroyed; nothing is left on the platform", "stop it with: butleradm sim stop dev-cluster")
	if left := disks(t, platform); !slices.Equal(left, []string{"restore-forensic", "second-root", "untagged"}) {
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
