// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

// renew changes the Secret.
func (w *fixture) renew(value string) {
	w.Helper()
	s := w.Secret()
	w.Must(w.Get(w.Context(), client.ObjectKeyFromObject(s), s))
	s.Data = map[string][]byte{"kubeconfig": []byte(value)}
	w.Must(w.Update(w.Context(), s))
}

func TestThePlatformIsShownAndStaysWhileARequestIsOnIt(t *testing.T) {
	w := newFixture(t)
	w.Must(w.Create(t.Context(), w.Secret()))
	c := w.Config(v1alpha1.ProviderHarvester)
	w.Must(w.Create(t.Context(), c))
	w.ready(c, "CredentialsAccepted")
	first := c.Status.Platform
	if first == "" {
		t.Fatal("the platform is not shown")
	}
	r := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{
		Namespace: w.Namespace, Name: "a", Annotations: map[string]string{v1alpha1.AnnotationPlatform: first},
	}}
	r.Spec = v1alpha1.MachineRequestSpec{
		ProviderRef: v1alpha1.ProviderReference{Name: "config"}, MachineName: "a",
		Role: v1alpha1.RoleWorker, CPU: 2, MemoryMB: 2048, DiskGB: 20,
	}
	w.Must(w.Create(t.Context(), r))
	w.platform.Redirect(inmemory.New(inmemory.Options{}))
	w.renew("other")
	w.ready(c, request.ReasonPlatformChanged)
	if c.Status.Ready || !c.Status.Validated || c.Status.Platform != first {
		t.Errorf("status %+v", c.Status)
	}
	w.Must(w.Delete(t.Context(), r))
	w.ready(c, "CredentialsAccepted")
	if c.Status.Platform == first || !c.Status.Ready {
		t.Errorf("with no request on the first platform: %+v", c.Status)
	}
}
