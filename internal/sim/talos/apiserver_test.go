// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package talos_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/sim/fault"
	simtalos "github.com/butlerdotdev/butler/internal/sim/talos"
)

// TestAPIServerDiesAndComesBack: what it held is there afterwards, and who was
// connected has to connect again.
func TestAPIServerDiesAndComesBack(t *testing.T) {
	t.Parallel()
	faults := plan()
	_, client := oneNode(t, simtalos.Options{Executable: planetest.Executable(t), Faults: faults})
	configMaps := client.CoreV1().ConfigMaps("default")
	_, err := configMaps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}, metav1.CreateOptions{})
	check(t, err)
	watch, err := configMaps.Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=other"})
	check(t, err)
	defer watch.Stop()

	dies := fault.Fault{Kind: fault.APIServerDies, Machine: "cp-*", For: metav1.Duration{Duration: time.Hour}}
	faults.Replace(fault.Plan{Faults: []fault.Fault{dies}})
	eventually(t, func(context.Context) bool {
		select {
		case _, open := <-watch.ResultChan():
			return !open
		default:
			return false
		}
	}, func() any { return "the watch continues" })
	if _, err := configMaps.Get(t.Context(), "kept", metav1.GetOptions{}); err == nil {
		t.Error("a dead API server answers")
	}

	faults.Replace(fault.Plan{})
	eventually(t, func(ctx context.Context) bool {
		_, err = configMaps.Get(ctx, "kept", metav1.GetOptions{})
		return err == nil
	}, func() any { return err })
}
