// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

func TestOnlyAnHAClusterWithItsControllersMoves(t *testing.T) {
	without := ha(v1alpha1.ProviderHarvester, "10.40.0.100")
	without.Addons.ButlerController.Enabled = new(false)
	with := ha(v1alpha1.ProviderHarvester, "10.40.0.100")
	with.Addons.ButlerController.Enabled = new(true)
	for reason, tc := range map[string]struct {
		spec v1alpha1.ClusterBootstrapSpec
		want bool
	}{
		"HA":                         {ha(v1alpha1.ProviderHarvester, "10.40.0.100"), true},
		"HA that says so":            {with, true},
		"HA without its controllers": {without, false},
		"single node":                {spec(), false},
	} {
		plan, err := NewPlan(tc.spec)
		if err != nil || Moves(tc.spec) != tc.want || plan.Moves != tc.want {
			t.Errorf("%s: %v, in the plan %v, %v", reason, Moves(tc.spec), plan.Moves, err)
		}
	}
}

func TestAmbientCredentialsDoNotMove(t *testing.T) {
	ambient := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "butler-system", Name: "gcp"}}
	secret := ambient.DeepCopy()
	secret.Spec.CredentialsRef = &v1alpha1.SecretReference{Name: "credentials"}
	moving := ha(v1alpha1.ProviderGCP, "")
	for reason, tc := range map[string]struct {
		spec   v1alpha1.ClusterBootstrapSpec
		config *v1alpha1.ProviderConfig
		want   bool
	}{
		"a Secret moves":           {moving, secret, true},
		"the environment does not": {moving, ambient, false},
		"nothing has to move":      {spec(), ambient, true},
	} {
		err := CheckCredentials(tc.spec, tc.config)
		var failure *Failure
		if (err == nil) != tc.want || !tc.want && (!errors.As(err, &failure) || failure.Reason != "AmbientCredentials" || !strings.Contains(failure.Message, "spec.credentialsRef")) {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

func TestOnlyTheOperatorsMachineWaitsForThePivot(t *testing.T) {
	failed := metav1.Condition{Type: v1alpha1.ConditionPivoted, Status: metav1.ConditionFalse, Reason: "RolledBack", Message: "the new side could not log in"}
	for reason, tc := range map[string]struct {
		plane  string
		moves  bool
		status []metav1.Condition
		want   string
	}{
		"on the operator's machine":    {v1alpha1.PlaneLocal, true, nil, "everything is ready"},
		"after a try that failed":      {v1alpha1.PlaneLocal, true, []metav1.Condition{failed}, "could not log in"},
		"one that does not move":       {v1alpha1.PlaneLocal, false, nil, ""},
		"on the cluster itself":        {v1alpha1.PlaneSelf, true, nil, ""},
		"on a cluster of its users":    {"", true, nil, ""},
		"on itself, after a lost word": {v1alpha1.PlaneSelf, true, []metav1.Condition{failed}, ""},
	} {
		cb := &v1alpha1.ClusterBootstrap{Status: v1alpha1.ClusterBootstrapStatus{Conditions: tc.status}}
		if tc.plane != "" {
			cb.Annotations = map[string]string{v1alpha1.AnnotationPlane: tc.plane}
		}
		o, err := awaitPivot(t.Context(), &Session{ClusterBootstrap: cb, Plan: Plan{Moves: tc.moves}})
		switch {
		case err != nil, (o == nil) != (tc.want == ""):
			t.Errorf("%s: %+v, %v", reason, o, err)
		case o != nil && (o.Reason != "ReadyToPivot" || !strings.Contains(o.Message, tc.want)):
			t.Errorf("%s: %+v", reason, o)
		}
	}
}
