// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	sim "github.com/butlerdotdev/butler/internal/sim/harvester"
)

// BenchmarkPendingToRunning measures the binary against the simulated Harvester:
// requests that wait already become running machines.
func BenchmarkPendingToRunning(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				w := waiting(b, n, datacenter.Profile{})
				b.StartTimer()
				began := time.Now()
				started(b, w.binary, w.kubeconfig)
				allRunning(b, w.client, n)
				b.ReportMetric(float64(n)/time.Since(began).Seconds(), "machines/s")
			}
		})
	}
}

// BenchmarkRequestsPerMachine counts what the binary asks of the two API servers,
// first until machines run and then until they are gone. It goes through proxies that
// count, so its time says nothing.
func BenchmarkRequestsPerMachine(b *testing.B) {
	const n = 100
	for b.Loop() {
		w := waiting(b, n, datacenter.Profile{})
		requests, platform := w.count(b)
		started(b, w.binary, w.kubeconfig)
		allRunning(b, w.client, n)
		b.ReportMetric(float64(requests.writes())/n, "writes/machine")
		b.ReportMetric(float64(platform.reads())/n, "platform-reads/machine")
		b.ReportMetric(float64(platform.writes())/n, "platform-writes/machine")
		b.Logf("platform, per machine:\n%s", platform.table(n))
		platform.reset()
		must(b, w.client.DeleteAllOf(b.Context(), &v1alpha1.MachineRequest{}, client.InNamespace(namespace)))
		allGone(b, w.client, n)
		b.ReportMetric(float64(platform.reads())/n, "platform-reads/deletion")
		b.Logf("platform, per deletion:\n%s", platform.table(n))
	}
}

// BenchmarkAtRest counts what the binary asks of Harvester while nothing happens.
func BenchmarkAtRest(b *testing.B) {
	const n, window = 100, 30 * time.Second
	for b.Loop() {
		w := waiting(b, n, datacenter.Profile{})
		requests, platform := w.count(b)
		started(b, w.binary, w.kubeconfig)
		allRunning(b, w.client, n)
		time.Sleep(5 * time.Second) // until the last of what was pushed is looked at
		requests.reset()
		platform.reset()
		time.Sleep(window)
		b.ReportMetric(float64(platform.reads())/window.Seconds(), "platform-reads/s")
		b.ReportMetric(float64(requests.reads()+requests.writes())/window.Seconds(), "requests/s")
		b.Logf("platform, per second:\n%s", platform.table(int(window.Seconds())))
	}
}

// scene is a cluster with requests that wait, a Harvester, and the binary that is
// to be started between them.
type scene struct {
	client     client.WithWatch
	binary     string
	kubeconfig string // of the cluster
	harvester  *sim.Harvester
}

// count puts counters before the cluster and before Harvester.
func (w *scene) count(b *testing.B) (requests, platform *counter) {
	b.Helper()
	requests, platform = &counter{}, &counter{}
	w.kubeconfig = requests.before(b, w.kubeconfig)
	setKubeconfig(b, w.client, platform.before(b, w.harvester.Kubeconfig()))
	return requests, platform
}

func waiting(b *testing.B, n int, profile datacenter.Profile) scene {
	b.Helper()
	log.SetLogger(logr.Discard())
	p := planetest.Start(b, plane.Options{AdmissionOff: []string{"ServiceAccount"}})
	c, h := cluster(b, p), platform(b, profile)
	configure(b, c, h)
	for i := range n {
		must(b, c.Create(b.Context(), numbered(i)))
	}
	return scene{client: c, binary: binary(b), kubeconfig: limited(b, p, c), harvester: h}
}

func numbered(i int) *v1alpha1.MachineRequest {
	name := fmt.Sprintf("m-%04d", i)
	r := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	r.Spec = v1alpha1.MachineRequestSpec{
		ProviderRef: v1alpha1.ProviderReference{Name: "harvester-prod"}, MachineName: name,
		Role: v1alpha1.RoleWorker, CPU: 2, MemoryMB: 2048, DiskGB: 20,
	}
	return r
}

// allRunning waits for n machines to run and returns when each did. It watches: to
// list 1,000 requests again and again would take a good part of the processors. The
// API server ends watches of a kind whose CRD has just been accepted, so a watch that
// ends is opened again; it begins with every request that exists.
func allRunning(b *testing.B, c client.WithWatch, n int) map[string]time.Time {
	ctx, cancel := context.WithTimeout(b.Context(), 5*time.Minute)
	defer cancel()
	up := map[string]time.Time{}
	for len(up) < n && ctx.Err() == nil {
		recordRunning(ctx, b, c, n, up)
	}
	if len(up) < n {
		b.Fatalf("%d of %d machines run", len(up), n)
	}
	return up
}

// recordRunning follows one watch until n machines run or it ends.
func recordRunning(ctx context.Context, b *testing.B, c client.WithWatch, n int, up map[string]time.Time) {
	w, err := c.Watch(ctx, &v1alpha1.MachineRequestList{}, client.InNamespace(namespace))
	must(b, err)
	defer w.Stop()
	for e := range w.ResultChan() {
		r, ok := e.Object.(*v1alpha1.MachineRequest)
		if ok && r.Status.Phase == v1alpha1.MachineRunning && up[r.Name].IsZero() {
			up[r.Name] = time.Now()
		}
		if len(up) == n {
			return
		}
	}
}

// allGone waits until n requests are gone.
func allGone(b *testing.B, c client.WithWatch, n int) {
	ctx, cancel := context.WithTimeout(b.Context(), 5*time.Minute)
	defer cancel()
	for list := (&v1alpha1.MachineRequestList{}); ctx.Err() == nil; time.Sleep(200 * time.Millisecond) {
		must(b, c.List(ctx, list, client.InNamespace(namespace)))
		if len(list.Items) == 0 {
			return
		}
	}
	b.Fatalf("not all of %d requests are gone", n)
}

// setKubeconfig replaces the credentials of the ProviderConfig.
func setKubeconfig(b *testing.B, c client.Client, path string) {
	b.Helper()
	data, err := os.ReadFile(path)
	must(b, err)
	secret := &corev1.Secret{}
	must(b, c.Get(b.Context(), client.ObjectKey{Namespace: namespace, Name: "harvester-kubeconfig"}, secret))
	secret.Data["kubeconfig"] = data
	must(b, c.Update(b.Context(), secret))
}
