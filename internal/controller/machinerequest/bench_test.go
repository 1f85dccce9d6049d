// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

// writes counts the requests of the reconciler that change something.
type writes struct {
	http.RoundTripper
	n *atomic.Int64
}

func (w writes) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		w.n.Add(1)
	}
	return w.RoundTripper.RoundTrip(r)
}

// BenchmarkPendingToRunning measures how fast requests that wait already become
// running machines on a platform that costs nothing.
func BenchmarkPendingToRunning(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				benchmark(b, n)
			}
		})
	}
}

func benchmark(b *testing.B, n int) {
	w := newFixture(b, inmemory.Options{Push: true})
	w.stop()
	w.Must(w.Create(w.Context(), w.Secret()))
	w.Must(w.Create(w.Context(), w.Config(v1alpha1.ProviderHarvester)))
	fill(w, n)
	var count atomic.Int64
	counted := *api
	counted.Wrap(func(rt http.RoundTripper) http.RoundTripper { return writes{rt, &count} })
	w.API = &counted
	b.StartTimer()
	began := time.Now()
	stop := w.start()
	running(w, n)
	took := time.Since(began)
	b.StopTimer()
	b.ReportMetric(float64(n)/took.Seconds(), "machines/s")
	b.ReportMetric(float64(count.Load())/float64(n), "writes/machine")
	stop()
	b.StartTimer()
}

// BenchmarkAtRest measures what machines cost at which nothing happens, on a platform
// that pushes changes: reads of the platform, time of this process, and its memory.
func BenchmarkAtRest(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				atRest(b, n)
			}
		})
	}
}

func atRest(b *testing.B, n int) {
	w := newFixture(b, inmemory.Options{Push: true})
	defer w.stop()
	w.Configure()
	fill(w, n)
	running(w, n)
	time.Sleep(5 * time.Second) // until the last of what was pushed is looked at
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	const window = 20 * time.Second
	reads, used := w.platform.Calls(inmemory.Observe), cpu(b)
	b.StartTimer()
	time.Sleep(window)
	b.StopTimer()
	b.ReportMetric(float64(w.platform.Calls(inmemory.Observe)-reads)/window.Seconds(), "reads/s")
	b.ReportMetric(100*float64(cpu(b)-used)/float64(window), "%core")
	b.ReportMetric(float64(memory.HeapAlloc)/(1<<20), "MiB")
	b.StartTimer()
}

// cpu is the time that this process has used.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func fill(w *fixture, n int) {
	names := make(chan string)
	var done sync.WaitGroup
	for range 8 {
		done.Go(func() {
			for name := range names {
				w.request(name)
			}
		})
	}
	for i := range n {
		names <- fmt.Sprintf("m-%05d", i)
	}
	close(names)
	done.Wait()
}

func running(w *fixture, n int) {
	for {
		var list v1alpha1.MachineRequestList
		w.Must(w.List(w.Context(), &list, client.InNamespace(w.Namespace)))
		up := 0
		for i := range list.Items {
			if list.Items[i].Status.Phase == v1alpha1.MachineRunning {
				up++
			}
		}
		if up == n {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}
