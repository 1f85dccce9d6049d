// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providerbinary

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/procstat"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
)

// PendingToRunning measures how fast requests that wait already become running machines, and
// what each of them costs: writes to the cluster, calls to the platform, time of the binary and
// its memory.
func (s Suite) PendingToRunning(b *testing.B) {
	s.each(b, []int{100, 1000, 10000}, func(f *fixture, t testing.TB) *process { return f.startBinary(t) })
}

// Baseline is PendingToRunning with another binary: the same driver, and a controller that
// polls every ten seconds with one worker.
func (s Suite) Baseline(b *testing.B) {
	binary, err := planetest.Build(b.Context(), "github.com/butlerdotdev/butler/internal/providerbinary/baseline")
	Must(b, err)
	s.each(b, []int{100, 1000}, func(f *fixture, t testing.TB) *process {
		f.binary = binary
		return f.startBinary(t, "--provider", string(s.Platform.Type))
	})
}

func (s Suite) each(b *testing.B, sizes []int, start func(*fixture, testing.TB) *process) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				s.crowd(b, n, start)
				b.StartTimer()
			}
		})
	}
}

// crowd has a binary work on n requests.
func (s Suite) crowd(b *testing.B, n int, start func(*fixture, testing.TB) *process) {
	platform := &counter{}
	f := s.waiting(b, n, platform)
	before := f.writes(b)
	b.StartTimer()
	began := time.Now()
	p := start(f, b)
	allRunning(b, f.client, n)
	took := time.Since(began)
	b.StopTimer()
	each := func(total float64, unit string) { b.ReportMetric(total/float64(n), unit+"/machine") }
	b.ReportMetric(float64(n)/took.Seconds(), "machines/s")
	each(f.writes(b)-before, "writes")
	each(float64(platform.reads()+platform.writes()), "calls")
	b.Logf("platform, per machine:\n%s", platform.table(n))
	used, err := procstat.Of(p.Process.Pid)
	if err != nil {
		b.Logf("CPU and memory are not known: %v", err)
		return
	}
	each(float64(used.CPU.Milliseconds()), "ms-cpu")
	b.ReportMetric(used.Peak, "MiB-peak")
}

// DeletionCalls counts the calls of the binary to the platform until machines are gone.
func (s Suite) DeletionCalls(b *testing.B) {
	const n = 100
	for b.Loop() {
		platform := &counter{}
		f := s.waiting(b, n, platform)
		f.startBinary(b)
		allRunning(b, f.client, n)
		platform.reset()
		Must(b, f.client.DeleteAllOf(b.Context(), &v1alpha1.MachineRequest{}, client.InNamespace(namespace)))
		allGone(b, f.client, n)
		b.ReportMetric(float64(platform.reads()+platform.writes())/n, "calls/deletion")
		b.Logf("platform, per deletion:\n%s", platform.table(n))
	}
}

// AtRest counts the requests of the binary while nothing happens.
func (s Suite) AtRest(b *testing.B) {
	const n, window = 100, 30 * time.Second
	for b.Loop() {
		requests, platform := &counter{}, &counter{}
		f := s.waiting(b, n, platform)
		f.kubeconfig = requests.before(b, f.kubeconfig)
		f.startBinary(b)
		allRunning(b, f.client, n)
		pause(b, 25*time.Second) // until the last of what has changed is looked at, twice where it is polled
		requests.reset()
		platform.reset()
		pause(b, window)
		b.ReportMetric(float64(platform.reads())/window.Seconds(), "platform-reads/s")
		b.ReportMetric(float64(requests.reads()+requests.writes())/window.Seconds(), "requests/s")
		b.Logf("platform, per second:\n%s", platform.table(int(window.Seconds())))
	}
}

// Realistic measures how long machines take to run where a create call takes 2 s and a
// boot 25 s: many must not take longer than one.
func (s Suite) Realistic(b *testing.B) {
	profile, err := datacenter.ProfileNamed(datacenter.Realistic)
	Must(b, err)
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				f := s.start(b, profile, nil)
				f.startBinary(b)
				began := time.Now()
				f.create(b, n)
				reported := allRunning(b, f.client, n)
				last := slices.MaxFunc(slices.Collect(maps.Values(reported)), time.Time.Compare)
				b.ReportMetric(last.Sub(began).Seconds(), "s-to-running")
			}
		})
	}
}

// waiting is a fixture with n requests.
func (s Suite) waiting(b *testing.B, n int, calls *counter) *fixture {
	b.Helper()
	f := s.start(b, datacenter.Profile{}, calls)
	f.create(b, n)
	return f
}

// create creates n requests, eight at a time.
func (f *fixture) create(b *testing.B, n int) {
	b.Helper()
	group, ctx := errgroup.WithContext(b.Context())
	group.SetLimit(8)
	for i := range n {
		group.Go(func() error { return f.client.Create(ctx, f.request(fmt.Sprintf("m-%05d", i))) })
	}
	Must(b, group.Wait())
}

func (f *fixture) request(name string) *v1alpha1.MachineRequest {
	return &v1alpha1.MachineRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.MachineRequestSpec{
			ProviderRef: v1alpha1.ProviderReference{Name: f.config.Name}, MachineName: name,
			Role: v1alpha1.RoleWorker, CPU: 2, MemoryMB: 1024, DiskGB: 20,
			TalosVersion: "v1.9.2", // that of the guides, for platforms that look their image up
		},
	}
}

// allRunning waits for n machines to run and returns when each did. It watches: to
// list 1,000 requests again and again would take a good part of the processors. The
// API server ends watches of a kind whose CRD has just been accepted, so a watch that
// ends is opened again; it begins with every request that exists.
func allRunning(b *testing.B, c client.WithWatch, n int) map[string]time.Time {
	ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
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
	Must(b, err)
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
	for list := (&v1alpha1.MachineRequestList{}); ctx.Err() == nil; pause(b, 200*time.Millisecond) {
		Must(b, c.List(ctx, list, client.InNamespace(namespace)))
		if len(list.Items) == 0 {
			return
		}
	}
	b.Fatalf("not all of %d requests are gone", n)
}
