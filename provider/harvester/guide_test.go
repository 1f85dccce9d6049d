// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/providerbinary"
	"github.com/butlerdotdev/butler/provider"
)

// TestThePermissionsOfTheGuideSuffice gives a user what the guide shows and
// nothing else.
func TestThePermissionsOfTheGuideSuffice(t *testing.T) {
	const reader = "reader-of-the-guide"
	admin := administrator(t)
	n := 0
	for _, u := range providerbinary.Documents(t, "getting-started/harvester.md") {
		if u.GroupVersionKind().Group != rbacv1.GroupName {
			continue
		}
		if subjects, found, _ := unstructured.NestedSlice(u.Object, "subjects"); found {
			subjects[0].(map[string]any)["name"] = reader
			u.Object["subjects"] = subjects
		}
		if err := admin.Create(t.Context(), u, client.FieldValidation("Strict")); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := admin.Delete(context.Background(), u); err != nil {
				t.Error(err)
			}
		})
		n++
	}
	if n != 4 {
		t.Fatalf("the guide has %d roles and bindings", n)
	}
	p := connectedAs(t, reader)
	s := wanted("guided", func(s *provider.MachineSpec) { s.UserData = provider.Sensitive(strings.Repeat("u", 3000)) })
	for check, verdict := range verdicts(t, p, s) {
		if verdict != provider.Passed && check != "capacity" { // no node is simulated
			t.Errorf("%s is %s", check, verdict)
		}
	}
	create(t, p.Machines, s)
	remove(t, p.Machines, s.MachineRef)
}

// connectedAs connects as a user once the API server knows of its permissions.
func connectedAs(t *testing.T, user string) provider.Platform {
	t.Helper()
	config, err := clientcmd.LoadFromFile(shared.API.Admin())
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range config.AuthInfos {
		u.Impersonate = user
	}
	data, err := clientcmd.Write(*config)
	if err != nil {
		t.Fatal(err)
	}
	var p provider.Platform
	until(t, func() bool {
		p, err = Provider().Connect(t.Context(), shared.config(func(c *provider.Config) {
			// Only past the simulator's front may one user speak for another.
			c.Credentials, c.Transport = credentials(data), provider.Transport{}
		}))
		return err == nil
	})
	t.Cleanup(p.Close)
	return p
}

func TestTheObjectsOfTheWalkAreAcceptedByHarvester(t *testing.T) {
	n := 0
	for _, u := range providerbinary.Documents(t, "contributing/try-a-provider.md") {
		if u.GroupVersionKind().Group == "butler.butlerlabs.dev" {
			continue // the test of the binary applies these
		}
		if err := shared.admin.Create(t.Context(), u, client.FieldValidation("Strict"), client.DryRunAll); err != nil {
			t.Errorf("%s %s: %v", u.GetKind(), u.GetName(), err)
		}
		n++
	}
	if n != 2 {
		t.Errorf("the walk has %d objects for Harvester", n)
	}
}
