// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rehearsals

package cli_test

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestAClusterContinuesWithTheRegistryItWasCreatedFrom: the addons of a cluster that
// manages itself come from where the first of them came from, and --charts says no
// other place in vain. What is installed here is all carried, so that the registry
// need not be there.
func TestAClusterContinuesWithTheRegistryItWasCreatedFrom(t *testing.T) {
	a := newAdm(t)
	const registry = "oci://registry.example.com/charts"
	whole := edited(t, exampleHA, "replicas: 3\n      cpu: 8", "replicas: 1\n      cpu: 8")
	bare, _, _ := strings.Cut(whole, "  # These are the defaults, written out.\n")
	manifest := file(t, "ha.yaml", bare+strings.Replace(addonsNone, "butlerController: {enabled: false}", "butlerController: {enabled: true}", 1))
	from := func(where string) []string {
		return []string{"bootstrap", "harvester", "-c", manifest, "--rehearse", "--timeout", "5m", "--charts", where}
	}

	a.ok(from(registry)...)
	c, d := a.within("butler-mgmt"), &appsv1.Deployment{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: system, Name: "butler-bootstrap"}, d); err != nil {
		t.Fatal(err)
	}
	if args := d.Spec.Template.Spec.Containers[0].Args; !slices.Contains(args, "--charts="+registry) {
		t.Errorf("its own butler-bootstrap runs with %q", args)
	}
	second := client.ObjectKey{Namespace: system, Name: "sh.helm.release.v1.butler-bootstrap.v2"}
	if err := c.Get(t.Context(), second, &corev1.Secret{}); !apierrors.IsNotFound(err) {
		t.Errorf("it was installed by the operator's plane, and again by its own: %v", err)
	}
	for _, where := range []string{registry, t.TempDir()} {
		if r := a.ok(from(where)...); !strings.Contains(r.err, "is Ready already; nothing was changed") {
			t.Errorf("from %s it says\n%s", where, r.err)
		}
	}
	if r := a.run(from("upstream")...); r.code != 2 || !strings.Contains(oneLine(r.err), "its own butler-bootstrap fetches addons from "+registry+", and --charts does not change that") {
		t.Errorf("exit %d\n%s", r.code, r.err)
	}
}
