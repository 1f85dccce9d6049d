// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester_test

import (
	"context"
	"fmt"
	"testing"

	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// BenchmarkMachine is the time from a VirtualMachine's creation to its address.
func BenchmarkMachine(b *testing.B) {
	ctx := context.Background()
	for i := 0; b.Loop(); i++ {
		name := fmt.Sprintf("bench-%d", i)
		if err := runMachine(ctx, shared.limited, name); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		for _, o := range []client.Object{machine(name, name), rootClaim(name)} {
			if err := shared.limited.Delete(ctx, o); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
	}
}

// BenchmarkMachines is the time of 100 machines that are created at once.
func BenchmarkMachines(b *testing.B) {
	const n = 100
	ctx := context.Background()
	for i := 0; b.Loop(); i++ {
		errs := make(chan error, n)
		for j := range n {
			go func() { errs <- runMachine(ctx, shared.limited, fmt.Sprintf("bench-%d-%d", i, j)) }()
		}
		for range n {
			if err := <-errs; err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		for j := range n {
			name := fmt.Sprintf("bench-%d-%d", i, j)
			for _, o := range []client.Object{machine(name, name), rootClaim(name)} {
				if err := shared.limited.Delete(ctx, o); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.StartTimer()
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "machines/s")
}

// runMachine creates a machine and returns when a watch shows its address.
func runMachine(ctx context.Context, c client.WithWatch, name string) error {
	watch, err := c.Watch(ctx, &kubevirtv1.VirtualMachineInstanceList{}, client.InNamespace("default"), client.MatchingFields{"metadata.name": name})
	if err != nil {
		return err
	}
	defer watch.Stop()
	for _, o := range []client.Object{rootClaim(name), machine(name, name)} {
		if err := c.Create(ctx, o); err != nil {
			return err
		}
	}
	for event := range watch.ResultChan() {
		vmi, ok := event.Object.(*kubevirtv1.VirtualMachineInstance)
		if ok && vmi.IsRunning() && vmi.Status.Interfaces[0].IP != "" {
			return nil
		}
	}
	return fmt.Errorf("the watch for %s ended", name)
}
