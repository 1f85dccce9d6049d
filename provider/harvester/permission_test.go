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

// administrator may do everything on the shared Harvester.
func administrator(t *testing.T) client.Client {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", shared.API.Admin())
	if err != nil {
		t.Fatal(err)
	}
	admin, err := client.New(config, client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	return admin
}

// documentedOnly takes the recommended permissions away until the test ends.
func documentedOnly(t *testing.T, m provider.Machines) {
	t.Helper()
	admin := administrator(t)
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: sim.RecommendedRole}}
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(binding), binding); err != nil {
		t.Fatal(err)
	}
	if err := admin.Delete(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	readable := func() error {
		_, err := m.(*machines).read(context.Background(), imageKind(), "default", "image-5rs6d")
		return err
	}
	t.Cleanup(func() {
		binding.ResourceVersion, binding.UID = "", ""
		if err := admin.Create(context.Background(), binding); err != nil {
			t.Error(err)
		}
		until(t, func() bool { return readable() == nil })
	})
	until(t, func() bool { return forbidden(readable()) })
}

// until waits for something that the API server does in its own time.
func until(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if done() {
			return
		}
	}
	t.Fatal("it did not happen")
}

func TestTheDocumentedPermissionsSuffice(t *testing.T) {
	m := connected(t).Machines
	documentedOnly(t, m)
	s := wanted("documented", func(s *provider.MachineSpec) { s.Image = "default/image-5rs6d" })
	create(t, m, s)
	remove(t, m, s.MachineRef)
}

func TestWithoutPermissionThePlatformIsNotIdentifiedAndThePreflightSaysSo(t *testing.T) {
	p := connected(t)
	if p.Identity == "" {
		t.Error("not identified")
	}
	documentedOnly(t, p.Machines)
	p = connected(t)
	if p.Identity != "" {
		t.Errorf("identified as %s", p.Identity)
	}
	if got := verdicts(t, p)[onIdentity]; got != provider.Unknown {
		t.Errorf("the preflight says %s", got)
	}
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

func TestAMissingNetworkThatMayNotBeReadIsARefusal(t *testing.T) {
	m := connected(t, func(c *provider.Config) { c.Spec.Harvester.NetworkName = "default/nope" }).Machines
	documentedOnly(t, m)
	s := wanted("networkless", func(s *provider.MachineSpec) { s.Image = "default/image-5rs6d" })
	t.Cleanup(func() { tidy(t, m, s.MachineRef) })
	_, err := m.Create(t.Context(), s)
	if provider.KindOf(err) != provider.Invalid || provider.ReasonOf(err) != "PlatformRefused" ||
		!strings.Contains(err.Error(), `network-attachment-definitions.k8s.cni.cncf.io "nope" not found`) {
		t.Errorf("create says %s %s: %v", provider.KindOf(err), provider.ReasonOf(err), err)
	}
}

func TestAnImageThatMayNotBeReadHasTheClassNamedAfterIt(t *testing.T) {
	m := connected(t).Machines
	documentedOnly(t, m)
	s := wanted("guessed") // its image has a class of another name
	if _, err := m.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tidy(t, m, s.MachineRef) })
	var seen provider.Machine
	until(t, func() bool {
		var err error
		seen, err = m.Observe(t.Context(), s.MachineRef)
		return err == nil && strings.Contains(seen.Message, `storage class "longhorn-talos-v1.9.2"`)
	})
	if seen.State != provider.StatePending || !strings.Contains(seen.Message, "grant get on virtualmachineimages.harvesterhci.io") {
		t.Errorf("%+v", seen)
	}
}

func TestASecretThatMayNotBeDeletedSaysWhatToGrant(t *testing.T) {
	m := connected(t).Machines
	s := wanted("kept", func(s *provider.MachineSpec) { s.UserData = provider.Sensitive(strings.Repeat("u", 3000)) })
	create(t, m, s)
	t.Run("documented", func(t *testing.T) {
		documentedOnly(t, m)
		var err error
		until(t, func() bool { _, err = m.Delete(t.Context(), s.MachineRef); return err != nil })
		if provider.KindOf(err) != provider.Unauthorized || !strings.Contains(err.Error(), "grant delete on secrets") {
			t.Errorf("delete says %v", err)
		}
		if seen, err := m.Observe(t.Context(), s.MachineRef); err != nil || seen.State == provider.StateAbsent {
			t.Errorf("observe says %s, %v", seen.State, err)
		}
	})
	remove(t, m, s.MachineRef)
}

// allowAdoption grants what the driver's hint asks for while machines are adopted.
func allowAdoption(t *testing.T) {
	t.Helper()
	grantUser(t, "adoption", []rbacv1.PolicyRule{
		{APIGroups: []string{"kubevirt.io"}, Resources: []string{"virtualmachines", "virtualmachineinstances"}, Verbs: []string{"get", "patch"}},
		{APIGroups: []string{""}, Resources: []string{"persistentvolumeclaims"}, Verbs: []string{"get", "patch"}},
	})
}

// grantUser gives the user of the kubeconfig further rules until the test ends.
func grantUser(t *testing.T, name string, rules []rbacv1.PolicyRule) {
	t.Helper()
	admin := administrator(t)
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: sim.User}},
	}
	for _, o := range []client.Object{role, binding} {
		if err := admin.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = admin.Delete(context.Background(), o) })
	}
}
