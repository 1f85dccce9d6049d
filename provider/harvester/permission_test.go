// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester

import (
	"context"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	sim "github.com/butlerdotdev/butler/internal/sim/harvester"
	"github.com/butlerdotdev/butler/provider"
)

// documentedOnly takes the recommended permissions away until the test ends.
func documentedOnly(t *testing.T, m provider.Machines) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", shared.simulator.AdminKubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	admin, err := client.New(config, client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: sim.RecommendedRole}}
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(binding), binding); err != nil {
		t.Fatal(err)
	}
	if err := admin.Delete(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		binding.ResourceVersion, binding.UID = "", ""
		if err := admin.Create(context.Background(), binding); err != nil {
			t.Error(err)
		}
		until(t, m, func(err error) bool { return err == nil })
	})
	until(t, m, forbidden)
}

// until waits for the API server to act on changed permissions.
func until(t *testing.T, m provider.Machines, done func(error) bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if _, err := m.(*machines).read(context.Background(), imageKind(), "default", "image-5rs6d"); done(err) {
			return
		}
	}
	t.Fatal("the permissions did not change")
}

func TestTheDocumentedPermissionsSuffice(t *testing.T) {
	m := connected(t).Machines
	documentedOnly(t, m)
	s := wanted("documented", func(s *provider.MachineSpec) { s.Image = "default/image-5rs6d" })
	create(t, m, s)
	remove(t, m, s.MachineRef)
}

func TestLongUserDataWithoutPermissionSaysWhatToGrant(t *testing.T) {
	m := connected(t).Machines
	documentedOnly(t, m)
	s := wanted("long", func(s *provider.MachineSpec) { s.UserData = provider.Sensitive(strings.Repeat("canary", 500)) })
	_, err := m.Create(t.Context(), s)
	if provider.KindOf(err) != provider.Unauthorized || !strings.Contains(err.Error(), "grant create and delete on secrets") {
		t.Errorf("create says %v", err)
	}
	if strings.Contains(err.Error(), "canary") {
		t.Errorf("the error quotes user data: %v", err)
	}
	if left := objects(t, s.Owner); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
