// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package machinerequest

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

// rotate replaces the credentials of the ProviderConfig.
func (w *fixture) rotate(value string) {
	w.Helper()
	s := w.Secret()
	w.Must(w.Get(w.Context(), client.ObjectKeyFromObject(s), s))
	s.StringData = map[string]string{"kubeconfig": value}
	w.Must(w.Update(w.Context(), s))
}

func TestRotatedCredentialsArePickedUp(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Configure()
	before := w.request("before")
	w.phase(before, v1alpha1.MachineRunning)
	w.platform.Accept("y")
	during := w.request("during")
	w.reason(during, "CredentialsRefused")
	w.rotate("y")
	w.phase(during, v1alpha1.MachineRunning)
	w.Must(w.Delete(w.Context(), before))
	w.Gone(before)
	w.machines(1)
}

func TestALoginThatRunsOutIsRenewed(t *testing.T) {
	w := newFixture(t, inmemory.Options{})
	w.Configure()
	r := w.request("a")
	w.phase(r, v1alpha1.MachineRunning)
	w.platform.Expire()
	w.Must(w.Delete(w.Context(), r)) // what is refused here is tried again after a minute
	w.Gone(r)
	w.machines(0)
}
