// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package harvester_test

import (
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubevirtv1 "kubevirt.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/internal/sim/harvester"
)

func TestRestartKeepsEverything(t *testing.T) {
	w := &fixture{dir: t.TempDir()}
	if err := w.start(harvester.Options{}); err != nil {
		t.Fatal(err)
	}
	create(t, w.limited, rootClaim("kept-root"), machine("kept", "kept-root"))
	before := instance(t, w.limited, "kept", isRunning)
	if err := w.admin.Delete(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: harvester.RecommendedRole}}); err != nil {
		t.Fatal(err)
	}
	address, old := w.harvester.Address(), w.limited
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}

	begin := time.Now()
	if err := w.start(harvester.Options{Seed: harvester.Seed{NoGuestAgent: true}}); err != nil {
		t.Fatal(err)
	}
	t.Logf("started again within %v", time.Since(begin))
	defer func() {
		if err := w.stop(); err != nil {
			t.Error(err)
		}
	}()
	if w.harvester.Address() != address {
		t.Errorf("address %s, before %s", w.harvester.Address(), address)
	}
	eventually(t, "boot", func() error {
		if _, boots := w.booted("kept"); boots != 1 {
			return fmt.Errorf("%d boots", boots)
		}
		return nil
	})
	after := instance(t, old, "kept", isRunning)
	if after.UID != before.UID || after.Status.Interfaces[0].MAC != before.Status.Interfaces[0].MAC {
		t.Errorf("another instance: %+v, before %+v", after, before)
	}
	binding := &rbacv1.ClusterRoleBinding{}
	if err := w.admin.Get(t.Context(), client.ObjectKey{Name: harvester.RecommendedRole}, binding); !apierrors.IsNotFound(err) {
		t.Errorf("what was withdrawn is back: %v", err)
	}

	// Without a guest agent a bridge network shows no address.
	create(t, old, rootClaim("mute-root"), machine("mute", "mute-root"))
	mute := instance(t, old, "mute", isRunning)
	if nic := mute.Status.Interfaces[0]; nic.IP != "" || nic.MAC == "" {
		t.Errorf("interface without agent: %+v", nic)
	}

	// A machine whose deletion was asked for is removed as ever.
	vm := &kubevirtv1.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kept"}}
	if err := old.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	gone(t, old, vm, after)
}

func TestKubeconfigsAreSecret(t *testing.T) {
	for _, path := range []string{shared.harvester.Kubeconfig(), shared.harvester.AdminKubeconfig()} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
}

func TestAPIServerIsOnTheSimulatedNetwork(t *testing.T) {
	for _, hostport := range []string{shared.harvester.Address(), "harvester.example.com:6443"} {
		conn, err := shared.network.Dial(t.Context(), "tcp", hostport)
		if err != nil {
			t.Error(err)
			continue
		}
		_ = conn.(io.Closer).Close()
	}
}
