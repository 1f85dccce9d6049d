// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

//go:build rehearsals

package cli_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestTheOnlyWorkerIsReplaced: the controllers that replace it have to run elsewhere.
func TestTheOnlyWorkerIsReplaced(t *testing.T) {
	a := newAdm(t)
	whole := edited(t, exampleHA, "replicas: 3\n      cpu: 8", "replicas: 1\n      cpu: 8", "  talos:\n", "  remediation: ReplaceWorkers\n  talos:\n")
	bare, _, _ := strings.Cut(whole, "  # These are the defaults, written out.\n")
	manifest := file(t, "ha.yaml", bare+strings.Replace(addonsNone, "butlerController: {enabled: false}", "butlerController: {enabled: true}", 1))
	a.ok("bootstrap", "harvester", "-c", manifest, "--rehearse")
	replaceWorker(t, a, "butler-mgmt-w-0")
	a.ok("destroy", "butler-mgmt", "--yes")
}

// replaceWorker deletes a worker on the platform, and returns its address and that of the one
// that replaces it. The cluster manages itself by then.
func replaceWorker(t *testing.T, a adm, name string) (before, after string) {
	t.Helper()
	machines := a.platform("butler-mgmt").Resource(virtualMachines).Namespace("default")
	old, err := machines.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	before = addressOf(a, name)
	if err := machines.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Second) {
		now, err := machines.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil || now.GetUID() == old.GetUID() {
			continue
		}
		if after = addressOf(a, name); after != "" {
			return before, after
		}
	}
	t.Fatalf("%s is not replaced:\n%s", name, a.ok("status", "butler-mgmt").out)
	return "", ""
}

// addressOf is the address of a node that is Ready; empty for any other.
func addressOf(a adm, name string) string {
	for _, n := range a.nodes("butler-mgmt") {
		if n.Name == name && isReady(n) {
			return n.Status.Addresses[0].Address
		}
	}
	return ""
}
