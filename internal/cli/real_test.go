// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// startPlatform runs a simulated Harvester that is no part of a rehearsal, and
// returns the directory with its kubeconfigs. Its machines get addresses that
// have no owner (RFC 5737), because a real run dials them.
func (a adm) startPlatform() string {
	a.Helper()
	return a.startPlatformIn("platform")
}

func (a adm) startPlatformIn(name string) string {
	a.Helper()
	dir := filepath.Join(a.home, name)
	setup := file(a.T, "setup.json", `{"seed": {"harvester": {}, "subnet": "192.0.2.0/24"}, "profile": "instant"}`)
	cmd, out, problems := a.command("sim", "harvester", "--state-dir", dir, "--setup", setup)
	if err := cmd.Start(); err != nil {
		a.Fatal(err)
	}
	a.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			a.Errorf("the platform ended with %v: %s", err, problems)
		}
	})
	waitFor(a.T, func() bool { return strings.Contains(out.String(), "proxy: ") })
	return dir
}

// kubeconfig is that of the platform's user, changed.
func (a adm) kubeconfig(dir string, change func(*clientcmdapi.Config)) string {
	a.Helper()
	config, err := clientcmd.LoadFromFile(filepath.Join(dir, "kubeconfig"))
	if err != nil {
		a.Fatal(err)
	}
	change(config)
	data, err := clientcmd.Write(*config)
	if err != nil {
		a.Fatal(err)
	}
	return file(a.T, "harvester.kubeconfig", string(data))
}

// TestRealRun goes the way of a real cluster as far as its machines: those of a
// simulated platform cannot be reached without its network.
func TestRealRun(t *testing.T) {
	t.Parallel()
	a := newAdm(t)
	platform := a.startPlatform()
	secrets := canaries{"the kubeconfig": "canary-in-the-kubeconfig", "a wrong token": "canary-that-is-refused", "user data": "canary-in-user-data"}
	good := a.kubeconfig(platform, func(c *clientcmdapi.Config) {
		c.AuthInfos["another"] = &clientcmdapi.AuthInfo{Token: secrets["the kubeconfig"]}
	})
	manifest := file(t, "real.yaml", edited(t, example)+addonsNone)
	bootstrap := func(more ...string) []string {
		return append([]string{"bootstrap", "harvester", "-c", manifest}, more...)
	}
	var said strings.Builder
	expect := func(r result, code int, want string) {
		t.Helper()
		said.WriteString(r.out + r.err)
		if r.code != code || !strings.Contains(oneLine(r.err), want) {
			t.Errorf("exit %d, want %d with %q:\n%s", r.code, code, want, r.err)
		}
	}
	expectNothing := func() {
		t.Helper()
		if left, err := filepath.Glob(filepath.Join(a.home, "clusters", "*")); err != nil || len(left) != 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	}

	nowhere := file(t, "nowhere.yaml", edited(t, example, "default/workloads", "default/nowhere")+addonsNone)
	expect(a.run("bootstrap", "harvester", "-c", nowhere, "--yes", "--credentials", good), 3, "network default/nowhere is refused")
	expectNothing()
	wrong := a.kubeconfig(platform, func(c *clientcmdapi.Config) {
		for _, u := range c.AuthInfos {
			*u = clientcmdapi.AuthInfo{Token: secrets["a wrong token"]}
		}
	})
	expect(a.run(bootstrap("--yes", "--credentials", wrong)...), 3, "nothing was created")
	expectNothing()
	if err := os.Chmod(good, 0o644); err != nil {
		t.Fatal(err)
	}
	expect(a.run(bootstrap("--yes", "--credentials", good, "--timeout", "1ms")...), 124, "can be read by others; chmod 600")

	cmd, out, problems := a.command(bootstrap("--yes", "--credentials", good)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return strings.Contains(problems.String(), "dev-cluster-cp-0 Running at 192.0.2.") })
	api := a.planeClient(filepath.Join(a.home, "clusters", "dev-cluster", "plane"))
	a.machineWithUserData(api, secrets["user data"])
	secrets.expectNoneInObjects(t, api)
	a.hold(api, "example.com/hold")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	expect(result{cmd.ProcessState.ExitCode(), out.String(), problems.String()}, 130, "remove it: butleradm destroy dev-cluster")

	// The plane has the credentials from before.
	expect(a.run(bootstrap("--yes", "--timeout", "25s")...), 124, "timed out; last seen: ")
	cmd, out, problems = a.command("destroy", "dev-cluster", "--yes")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return strings.Contains(problems.String(), "waiting for ") })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	expect(result{cmd.ProcessState.ExitCode(), out.String(), problems.String()}, 130, "What is not gone yet is left in place. continue: butleradm destroy dev-cluster")
	if !strings.HasPrefix(out.String(), "created ") {
		t.Errorf("no ledger in %q", out)
	}
	expect(a.run(bootstrap("--yes")...), 2, "dev-cluster is being destroyed; finish that first")
	a.withPlane(filepath.Join(a.home, "clusters", "dev-cluster", "plane"), func(api client.Client) { a.hold(api) })
	expect(a.run("destroy", "dev-cluster", "--yes"), 0, "nothing is left on the platform")
	data, err := os.ReadFile(filepath.Join(platform, "admin.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	left, err := dynamic.NewForConfigOrDie(a.config(data)).Resource(virtualMachines).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(left.Items) != 0 {
		t.Errorf("%d machines are left: %v", len(left.Items), err)
	}
	secrets.expectNoneIn(t, "the output", []byte(said.String()))
	secrets.expectNoneOnDisk(t, a.home)
}

// hold keeps the cluster from going away by finalizers, or by none.
func (a adm) hold(api client.Client, finalizers ...string) {
	a.Helper()
	var clusters v1alpha1.ClusterBootstrapList
	if err := api.List(a.Context(), &clusters); err != nil || len(clusters.Items) != 1 {
		a.Fatalf("%d clusters, %v", len(clusters.Items), err)
	}
	cb := &clusters.Items[0]
	before := cb.DeepCopy()
	cb.Finalizers = slices.DeleteFunc(cb.Finalizers, func(f string) bool { return strings.HasPrefix(f, "example.com/") })
	cb.Finalizers = append(cb.Finalizers, finalizers...)
	if err := api.Patch(a.Context(), cb, client.MergeFrom(before)); err != nil {
		a.Fatal(err)
	}
}

// machineWithUserData requests a machine beside the cluster's, and deletes it
// once it runs.
func (a adm) machineWithUserData(api client.Client, userData string) {
	a.Helper()
	request := &v1alpha1.MachineRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: "butler-system", Name: "beside"},
		Spec: v1alpha1.MachineRequestSpec{
			ProviderRef: v1alpha1.ProviderReference{Name: "harvester-dev"}, MachineName: "beside", Role: v1alpha1.RoleWorker,
			CPU: 1, MemoryMB: 2048, DiskGB: 20, UserData: userData + strings.Repeat("#", 3000),
		},
	}
	if err := api.Create(a.Context(), request); err != nil {
		a.Fatal(err)
	}
	key := client.ObjectKeyFromObject(request)
	waitFor(a.T, func() bool {
		return api.Get(a.Context(), key, request) == nil && request.Status.Phase == v1alpha1.MachineRunning
	})
	if err := api.Delete(a.Context(), request); err != nil {
		a.Fatal(err)
	}
	waitFor(a.T, func() bool { return api.Get(a.Context(), key, request) != nil })
}
