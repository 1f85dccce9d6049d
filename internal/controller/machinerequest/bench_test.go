// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/baseline"
	"github.com/butlerdotdev/butler/internal/controller/controllertest"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/internal/controller/session"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/procstat"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

// BenchmarkPendingToRunning measures how fast requests that wait already become running
// machines on a platform that costs nothing, and what each of them costs in this process.
func BenchmarkPendingToRunning(b *testing.B) {
	crowds(b, inmemory.Options{Push: true}, func(m manager.Manager, s *session.Sessions) error {
		return Register(m, request.Options{Type: v1alpha1.ProviderHarvester, Sessions: s})
	})
}

// BenchmarkBaseline is the same with a controller that polls every ten seconds with one worker.
func BenchmarkBaseline(b *testing.B) { crowds(b, inmemory.Options{}, baseline.Register) }

func crowds(b *testing.B, o inmemory.Options, register func(manager.Manager, *session.Sessions) error) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				crowd(b, n, o, register)
				b.StartTimer()
			}
		})
	}
}

func crowd(b *testing.B, n int, o inmemory.Options, register func(manager.Manager, *session.Sessions) error) {
	w := idleFixture(b, api, inmemory.New(o))
	w.Configure()
	fill(w, n)
	m := w.Manager()
	s := session.New(session.Options{
		Provider: provider.Provider{Type: v1alpha1.ProviderHarvester, Connect: w.connect}, Cache: m.GetClient(), Live: m.GetAPIReader(),
	})
	w.Must(m.Add(s))
	w.Must(register(m, s))
	written, err := planetest.Writes(b.Context(), api)
	w.Must(err)
	used := cpu(b)
	b.StartTimer()
	began := time.Now()
	stop := controllertest.Run(w, m)
	running(w, n)
	took := time.Since(began)
	b.StopTimer()
	used = cpu(b) - used
	now, err := planetest.Writes(b.Context(), api)
	w.Must(err)
	stop()
	each := func(total float64, unit string) { b.ReportMetric(total/float64(n), unit+"/machine") }
	b.ReportMetric(float64(n)/took.Seconds(), "machines/s")
	each(now-written, "writes")
	each(float64(calls(w.platform)), "calls")
	each(float64(used.Milliseconds()), "ms-cpu")
	if s, err := procstat.Of(os.Getpid()); err == nil {
		b.ReportMetric(s.Peak, "MiB-peak")
	}
}

// calls are those that a platform has had about machines.
func calls(p *inmemory.Platform) (n int) {
	for _, op := range []inmemory.Op{inmemory.Create, inmemory.Observe, inmemory.List, inmemory.Delete} {
		n += p.Calls(op)
	}
	return n
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

// running waits until n machines run. It watches: to list all of them again and again would
// take a good part of the processors.
func running(w *fixture, n int) {
	up := map[string]bool{}
	for len(up) < n {
		watch, err := w.Watch(w.Context(), &v1alpha1.MachineRequestList{}, client.InNamespace(w.Namespace))
		w.Must(err)
		for e := range watch.ResultChan() {
			r, ok := e.Object.(*v1alpha1.MachineRequest)
			if ok && r.Status.Phase == v1alpha1.MachineRunning {
				up[r.Name] = true
			}
			if len(up) == n {
				break
			}
		}
		watch.Stop()
	}
}
