// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package selfhosted

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/program"
)

// serverWith is an API server with these objects.
func serverWith(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme, err := program.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&v1alpha1.ProviderConfig{}, &v1alpha1.ClusterBootstrap{}).Build()
}

// What the platform said before a move does not count for it.
func TestLoginIsRequestedAgain(t *testing.T) {
	config := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "b"}}
	config.Spec.CredentialsRef = &v1alpha1.SecretReference{Name: "c"}
	check := metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: "CredentialsAccepted"}
	meta.SetStatusCondition(&config.Status.Conditions, check)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "c"}}
	c := serverWith(t, config, secret)
	question := &login{client: c, key: client.ObjectKeyFromObject(config)}
	for range 2 { // and asking twice changes nothing
		if err := question.check(t.Context()); err == nil || !strings.Contains(err.Error(), "has not connected to the platform yet") {
			t.Fatalf("said %v", err)
		}
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(secret), secret); err != nil || secret.Annotations[annotationCheckRequested] == "" {
		t.Errorf("no controller would try the Secret: %v, %v", secret.Annotations, err)
	}
	for _, answer := range []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: "Refused", Message: "token expired"}, check} {
		if err := c.Get(t.Context(), question.key, config); err != nil {
			t.Fatal(err)
		}
		meta.SetStatusCondition(&config.Status.Conditions, answer)
		if err := c.Status().Update(t.Context(), config); err != nil {
			t.Fatal(err)
		}
		err := question.check(t.Context())
		if said := answer.Status == metav1.ConditionTrue; said != (err == nil) || err != nil && !strings.Contains(err.Error(), answer.Message) {
			t.Errorf("after %s: %v", answer.Reason, err)
		}
	}
}
