// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"unicode/utf8"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/sim/network"
	"github.com/butlerdotdev/butler/internal/ui"
)

const strategicPatch = `    strategicPatches:
      - patch: |
          machine:
            registries:
              config:
                registry.example.com:
                  auth: {username: butler, password: %s}
`

// withoutISCSI is the factory's schematic without extensions: a warning comes of
// Longhorn on it.
const withoutISCSI = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"

// TestHARehearsal is one rehearsal of the HA example, looked at from all sides:
// a rehearsal takes longer than all looks at it.
func TestHARehearsal(t *testing.T) {
	t.Parallel()
	a := newAdm(t)
	outside := listenOutside(t)
	const patch, document = "canary-in-the-patch", "canary-in-the-secret"
	secrets := canaries{"the patch": patch, "the Secret document": document}
	manifest := file(t, "ha.yaml", edited(t, exampleHA,
		"    networkName:", "    endpoint: https://"+outside.address+"\n    networkName:",
		"88d1f7a5c4f1d3aba7df787c448c1d3d008ed29cfb34af53fa0df4336a56040b", withoutISCSI,
		"    installDisk:", fmt.Sprintf(strategicPatch, patch)+"    installDisk:",
		"replicas: 3\n      cpu: 8", "replicas: 3\n      labels: {example.com/pool: workers}\n      cpu: 8",
		"      version: v1.9.4\n", "      version: v1.9.4\n      infrastructureProviders: [{name: aws, credentialsSecretRef: {name: aws}}]\n",
	)+kubeSecret(document)+"---\napiVersion: v1\nkind: Secret\nmetadata: {name: aws}\nstringData: {accessKeyID: key-of-aws, secretAccessKey: another}\n")
	bootstrap := []string{"bootstrap", "harvester", "-c", manifest, "--rehearse"}
	dir := filepath.Join(a.home, "rehearsals", "butler-mgmt")

	first := a.ok(append(bootstrap, "--output", "json")...)
	t.Run("events report the whole way", func(t *testing.T) { expectEvents(t, first.out) })
	t.Run("it passes through the pivot and proves it", func(t *testing.T) {
		for _, want := range []string{`"phase":"Pivoting"`, "the cluster manages itself: ", " provider IDs"} {
			if !strings.Contains(first.out, want) {
				t.Errorf("%q is not reported", want)
			}
		}
		expectSelfManaged(t, a, "butler-mgmt")
	})
	t.Run("six nodes are Ready", func(t *testing.T) { expectSixNodes(t, a) })
	t.Run("all addons are Ready", func(t *testing.T) { expectAddons(t, a, "butler-mgmt", addonsHA...) })
	t.Run("a provider of Cluster API has its credentials from the manifest", func(t *testing.T) {
		secret := &corev1.Secret{}
		err := a.within("butler-mgmt").Get(t.Context(), client.ObjectKey{Namespace: "capa-system", Name: "capa-manager-bootstrap-credentials"}, secret)
		if err != nil || !strings.Contains(string(secret.Data["credentials"]), "aws_access_key_id = key-of-aws") {
			t.Errorf("%v", err)
		}
	})
	t.Run("each chart is one release", func(t *testing.T) { expectOneReleaseEach(t, a, "butler-mgmt", releasesHA...) })
	t.Run("labels of the pool are on its nodes", func(t *testing.T) {
		labelled := 0
		for _, n := range a.nodes("butler-mgmt") {
			if n.Labels["example.com/pool"] == "workers" {
				labelled++
			}
		}
		if labelled != 3 {
			t.Errorf("%d nodes are of the workers' pool", labelled)
		}
	})
	t.Run("status fits into 80 columns", func(t *testing.T) {
		out := a.ok("status", "butler-mgmt").out
		for line := range strings.SplitSeq(out, "\n") {
			if utf8.RuneCountInString(line) > ui.Columns {
				t.Errorf("too wide: %q", line)
			}
		}
		for _, want := range []string{"phase:     Ready", "endpoint:  10.40.0.200", "addons:    13 of 13 ready, 100%", "cert-manager               v1.16.2 ", "butler-mgmt-w-2   worker "} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is not in\n%s", want, out)
			}
		}
	})
	again := a.ok(bootstrap...)
	t.Run("the same command says that it is Ready", func(t *testing.T) {
		if !strings.Contains(again.err, "butler-mgmt is Ready already; nothing was changed") {
			t.Errorf("said\n%s", again.err)
		}
	})
	t.Run("what may not change is refused with its line", func(t *testing.T) {
		changed := file(t, "changed.yaml", edited(t, manifest, "cpu: 8", "cpu: 9"))
		r := a.run("bootstrap", "harvester", "-c", changed, "--rehearse")
		for _, want := range []string{
			changed + ":32: spec.cluster: is immutable once machines are requested, but for workers.replicas of a Ready cluster with topology ha\n",
			changed + ": there is a cluster butler-mgmt already, which it would change; ",
		} {
			if r.code != 2 || !strings.Contains(r.err, want) {
				t.Errorf("exit %d\n%s", r.code, r.err)
			}
		}
	})
	t.Run("a plan shows what changes in place and what is refused", func(t *testing.T) { expectPlannedChange(t, a, manifest, patch) })
	t.Run("nothing reveals a secret", func(t *testing.T) {
		a := adm{t, a.path, a.home}
		a.withPlane(filepath.Join(dir, "plane"), func(api client.Client) {
			for _, name := range []string{"talos-secrets", "kubeconfig", "talosconfig"} {
				secret := &corev1.Secret{}
				if err := api.Get(t.Context(), client.ObjectKey{Namespace: "butler-system", Name: "butler-mgmt-" + name}, secret); err != nil {
					t.Fatal(err)
				}
				for _, value := range secret.Data {
					secrets.takeIn(t, name, value)
				}
			}
			secrets.expectNoneInObjects(t, api)
		})
		secrets.expectNoneIn(t, "the output", []byte(first.out+first.err+again.out+again.err))
		// The status in full has the spec, and with it the user's own patch.
		delete(secrets, "the patch")
		secrets.expectNoneIn(t, "the status", []byte(a.ok("status", "butler-mgmt", "-o", "json").out))
		secrets["the patch"] = patch
		secrets.expectNoneOnDisk(t, a.home)
		a.expectBundleWithout(secrets, "butler-mgmt")
	})
	t.Run("a rehearsal reaches nothing outside", func(t *testing.T) { outside.expectUnreachable(t, dir) })

	t.Run("it is distinguished from other clusters that it manages", func(t *testing.T) { expectFound(t, a, "butler-mgmt") })
	t.Run("credentials that ran out are renewed", func(t *testing.T) { expectRenewed(t, a, "butler-mgmt") })
	t.Run("the cluster serves requests by itself", func(t *testing.T) { expectRequestsServed(t, a, "butler-mgmt") })
	t.Run("a tenant cluster is created, refuses a destroy, and is gone again", func(t *testing.T) { expectTenant(t, a, "butler-mgmt") })
	t.Run("the cluster keeps what it needs", func(t *testing.T) { expectKept(t, a, "butler-mgmt") })
	a.run("forget", "butler-mgmt", "--yes").expect(t, 1, "butler-mgmt manages itself, and keeps running", "the platform still holds 6 machines, 9 disks of butler-mgmt")
	// The last word on what is deleted has the plane that is in charge, but for the
	// login, which may have ended there.
	spoilLogin(t, a, "butler-mgmt")
	// A pod that its node has ended stays listed, and blocks nothing.
	leaveEndedPod(t, a, "butler-mgmt", addon.ButlerBootstrap)
	if r := a.ok("destroy", "butler-mgmt", "--yes"); !strings.Contains(r.out, "left 0: 6 machines, 9 disks") {
		t.Errorf("destroy said\n%s%s", r.out, r.err)
	}
	a.expectNothingOnThePlatform("butler-mgmt")
}

// leaveEndedPod leaves one on the cluster that looks like a controller's and was
// evicted.
func leaveEndedPod(t *testing.T, a adm, cluster, controller string) {
	t.Helper()
	c, d := a.within(cluster), &appsv1.Deployment{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: system, Name: controller}, d); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "evicted", Labels: d.Spec.Selector.MatchLabels}, Spec: d.Spec.Template.Spec}
	pod.Spec.SchedulerName = "absent"
	if err := c.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, "Evicted"
	if err := c.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
}

func expectEvents(t *testing.T, out string) {
	t.Helper()
	seen := map[ui.EventType]int{}
	for _, e := range events(t, out) {
		seen[e.Type]++
	}
	for _, kind := range []ui.EventType{ui.EventStep, ui.EventCheck, ui.EventPhase, ui.EventMachine, ui.EventAddon, ui.EventWaiting, ui.EventWarning} {
		if seen[kind] == 0 {
			t.Errorf("no event %s among %v", kind, seen)
		}
	}
	if last := lastEvent(t, out); last.Type != ui.EventReady {
		t.Errorf("last event %+v", last)
	}
}

func expectSixNodes(t *testing.T, a adm) {
	t.Helper()
	nodes, ready := a.nodes("butler-mgmt"), 0
	for _, n := range nodes {
		if isReady(n) {
			ready++
		}
	}
	if len(nodes) != 6 || ready != 6 {
		t.Errorf("%d nodes, %d Ready", len(nodes), ready)
	}
}

// outsideServer is a server that is no part of any simulated network.
type outsideServer struct {
	address string
	port    int
	called  atomic.Int32
}

func listenOutside(t *testing.T) *outsideServer {
	t.Helper()
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	port := l.Addr().(*net.TCPAddr).Port
	w := &outsideServer{address: fmt.Sprintf("127.0.0.1:%d", port), port: port}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.called.Add(1)
			_ = c.Close()
		}
	}()
	return w
}

// expectUnreachable dials the server as everything in a rehearsal dials. Until
// then it may not have been called, although the manifest names it.
func (w *outsideServer) expectUnreachable(t *testing.T, dir string) {
	t.Helper()
	proxy, err := os.ReadFile(filepath.Join(dir, "sim", "proxy"))
	if err != nil {
		t.Fatal(err)
	}
	dial := network.Dialer(string(proxy))
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		ip := address.(*net.IPNet).IP.To4()
		// The loopback address of the manifest points to the simulated platform.
		if ip == nil || ip.IsLoopback() {
			continue
		}
		target := net.JoinHostPort(ip.String(), fmt.Sprint(w.port))
		if c, err := dial(t.Context(), "tcp", target); !errors.Is(err, syscall.EHOSTUNREACH) {
			t.Errorf("dial %s: %v, %v", target, c, err)
		}
	}
	for _, target := range []string{fmt.Sprintf("127.0.0.2:%d", w.port), fmt.Sprintf("localhost:%d", w.port)} {
		if c, err := dial(t.Context(), "tcp", target); !errors.Is(err, syscall.EHOSTUNREACH) {
			t.Errorf("dial %s: %v, %v", target, c, err)
		}
	}
	if n := w.called.Load(); n != 0 {
		t.Errorf("the outside was called %d times", n)
	}
}
