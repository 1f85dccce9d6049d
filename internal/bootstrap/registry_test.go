// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/talos"
)

// TestRegistriesAreReadBeforeMachines: a Secret that is missing, or of no use, blocks a new
// cluster, and of one that is Ready only machines that are configured.
func TestRegistriesAreReadBeforeMachines(t *testing.T) {
	cases := map[string]struct {
		data    map[string][]byte // nil: there is no Secret
		phase   v1alpha1.ClusterBootstrapPhase
		blocked bool
		unknown bool
	}{
		"all keys":         {map[string][]byte{"username": []byte("robot"), "password": []byte("secret"), "caBundle": []byte("PEM")}, "", false, false},
		"an authority":     {map[string][]byte{"caBundle": []byte("PEM")}, "", false, false},
		"other keys":       {map[string][]byte{"user": []byte("robot")}, "", true, true},
		"missing":          {nil, "", true, true},
		"missing, Ready":   {nil, v1alpha1.BootstrapReady, false, true},
		"all there, Ready": {map[string][]byte{"username": []byte("robot")}, v1alpha1.BootstrapReady, false, false},
	}
	for reason, c := range cases {
		t.Run(reason, func(t *testing.T) {
			b := fake.NewClientBuilder()
			if c.data != nil {
				b = b.WithObjects(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "login"}, Data: c.data})
			}
			s := &Session{ClusterBootstrap: &v1alpha1.ClusterBootstrap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}}, Live: b.Build()}
			s.Spec.Registries = []v1alpha1.RegistrySpec{{Host: "registry.example.com", SecretRef: v1alpha1.LocalReference{Name: "login"}}}
			s.Status.Phase = c.phase
			o, err := readRegistries(t.Context(), s)
			if err != nil || (o != nil) != c.blocked || (s.registries.unknown != nil) != c.unknown {
				t.Fatalf("obstacle %v, unknown %v, %v", o, s.registries.unknown, err)
			}
			if c.unknown {
				if _, err := s.config(Machine{}, false, v1alpha1.MachineRequestStatus{}); err == nil {
					t.Error("a machine is configured without its registry")
				}
				return
			}
			want := []talos.Registry{Registry("registry.example.com", c.data)}
			if diff := cmp.Diff(want, s.registries.all); diff != "" {
				t.Error(diff)
			}
		})
	}
}
