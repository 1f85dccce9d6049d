// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// TestAClusterThatWaitsAsksForNothing keeps a control plane from getting an address: with many
// clusters that is how most of them spend their time.
func TestAClusterThatWaitsAsksForNothing(t *testing.T) {
	f := newFixture(t)
	f.player.set(func(p *player) { p.noControlPlane = true })
	tc := f.tenant()
	f.Must(f.Create(t.Context(), tc))
	f.until(tc, func(tc *v1alpha1.TenantCluster) bool {
		return condition(tc, v1alpha1.ConditionControlPlaneReady).Reason == "WaitingForEndpoint"
	})
	const window, few = 2 * time.Second, 2 // a walk that was due may still come
	f.requests.reset()
	<-time.After(window)
	seen := f.requests.reset()
	delete(seen, "GET v1/secrets") // the credentials of the platform are read again and again
	if n := sum(seen); n > few {
		t.Errorf("%d requests within %s while nothing happens:\n%s", n, window, table(seen, 1))
	}
	f.player.set(func(p *player) { p.noControlPlane = false })
	f.until(tc, isReady)
	if n := f.requests.reset()["GET v1/namespaces"]; n > few {
		t.Errorf("the namespace is read %d times on the way to Ready", n)
	}
	f.gone(tc)
}

// TestASecretIsRememberedForAWhile deletes a Secret that was read.
func TestASecretIsRememberedForAWhile(t *testing.T) {
	for reason, tc := range map[string]struct {
		later      time.Duration
		generation int64
		silent     bool
		want       bool
	}{
		"at once":                             {generation: 1, want: true},
		"after a while":                       {generation: 1, later: keptFor},
		"the spec has changed":                {generation: 2},
		"the API server of it is silent":      {generation: 1, silent: true},
		"a moment before the while has ended": {generation: 1, later: keptFor - time.Second, want: true},
	} {
		now := time.Now()
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "web-1", Name: "web-ca"}, Data: map[string][]byte{"a": []byte("b")}}
		api := fake.NewClientBuilder().WithObjects(secret).Build()
		cluster := &v1alpha1.TenantCluster{ObjectMeta: metav1.ObjectMeta{Name: "web", Generation: 1, Annotations: map[string]string{annotationNamespace: "web-1"}}}
		cluster.Status.ObservedGeneration = 1
		s := &session{TenantCluster: cluster, Reconciler: &Reconciler{Live: api, Clock: func() time.Time { return now }}}
		if data, err := s.secret(t.Context(), "web-ca"); err != nil || len(data) != 1 {
			t.Fatal(data, err)
		}
		if err := api.Delete(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
		now, cluster.Generation = now.Add(tc.later), tc.generation
		if tc.silent {
			s.secrets.forget("web-1")
		}
		data, err := s.secret(t.Context(), "web-ca")
		if err != nil || (len(data) == 1) != tc.want {
			t.Errorf("%s: %v, %v", reason, data, err)
		}
	}
}
