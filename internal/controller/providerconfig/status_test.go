// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// findings is a platform's own check with a fixed outcome.
type findings []provider.Finding

func (f findings) Check(context.Context, []provider.MachineSpec) ([]provider.Finding, error) {
	return f, nil
}

func TestPreflightReportsAllThatIsRefusedAndNothingElse(t *testing.T) {
	err := preflight(t.Context(), &provider.Platform{Preflight: findings{
		{Check: "image a", Verdict: provider.Refused, Message: "it does not exist", Hint: "upload it"},
		{Check: "capacity", Verdict: provider.Unknown, Message: "may not be read"},
		{Check: "network b", Verdict: provider.Refused, Message: "it does not exist"},
	}})
	if provider.ReasonOf(err) != reasonRefused {
		t.Fatalf("got %v", err)
	}
	if want := "image a: it does not exist; upload it | network b: it does not exist"; !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%q does not end in %q", err, want)
	}
	if err := preflight(t.Context(), &provider.Platform{Preflight: findings{{Verdict: provider.Unknown}}}); err != nil {
		t.Errorf("what may not be read is refused: %v", err)
	}
}

func TestRefusedPreflightLeavesTheCredentialsValidated(t *testing.T) {
	w := newFixture(t)
	w.Must(w.Create(t.Context(), w.Secret()))
	c := w.Config(v1alpha1.ProviderHarvester)
	w.Must(w.Create(t.Context(), c))
	w.ready(c, "CredentialsAccepted")
	refused := &provider.Error{Kind: provider.Invalid, Reason: reasonRefused}
	w.Must((&Reconciler{Client: w.WithWatch, Type: v1alpha1.ProviderHarvester}).report(t.Context(), c, check{err: refused}, use{}))
	if c.Status.Ready || !c.Status.Validated || !meta.IsStatusConditionTrue(c.Status.Conditions, conditionValidated) {
		t.Errorf("status %+v", c.Status)
	}
}
