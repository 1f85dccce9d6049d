// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
)

// BenchmarkPendingToRunning measures the binary against the simulated Harvester:
// requests that wait already become running machines.
func BenchmarkPendingToRunning(b *testing.B) {
	log.SetLogger(logr.Discard())
	const n = 100
	for b.Loop() {
		b.StopTimer()
		p := planetest.Start(b, plane.Options{AdmissionOff: []string{"ServiceAccount"}})
		c := cluster(b, p)
		configure(b, c, platform(b))
		for i := range n {
			must(b, c.Create(b.Context(), numbered(i)))
		}
		path, kubeconfig := binary(b), limited(b, p, c)
		b.StartTimer()
		began := time.Now()
		started(b, path, kubeconfig)
		allRunning(b, c, n)
		b.ReportMetric(n/time.Since(began).Seconds(), "machines/s")
	}
}

func numbered(i int) *v1alpha1.MachineRequest {
	name := fmt.Sprintf("m-%03d", i)
	r := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	r.Spec = v1alpha1.MachineRequestSpec{
		ProviderRef: v1alpha1.ProviderReference{Name: "harvester-prod"}, MachineName: name,
		Role: v1alpha1.RoleWorker, CPU: 2, MemoryMB: 2048, DiskGB: 20,
	}
	return r
}

func allRunning(b *testing.B, c client.Client, n int) {
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		var list v1alpha1.MachineRequestList
		must(b, c.List(b.Context(), &list))
		up := 0
		for i := range list.Items {
			if list.Items[i].Status.Phase == v1alpha1.MachineRunning {
				up++
			}
		}
		if up == n {
			return
		}
	}
	b.Fatal("not all machines run")
}
