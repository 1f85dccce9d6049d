// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package plane_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/butlerdotdev/butler/internal/lock"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
)

// victimDir makes this test binary a process that holds a plane and writes to
// it until it is killed.
const victimDir = "PLANE_TEST_VICTIM_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimDir); dir != "" {
		fmt.Fprintln(os.Stdout, victim(dir, os.Args[1]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// victim reports the processes of its plane, then each write that was
// acknowledged.
func victim(dir, executable string) error {
	ctx := context.Background()
	p, err := plane.Start(ctx, plane.Options{Dir: dir, Executable: executable, Controllers: []string{"namespace-controller"}, Scheduler: true})
	if err != nil {
		return err
	}
	configMaps := kubernetes.NewForConfigOrDie(p.Config()).CoreV1().ConfigMaps("default")
	for i := 0; ; i++ {
		name := fmt.Sprintf("object-%d", i)
		_, err := configMaps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		fmt.Fprintln(os.Stdout, "acknowledged", name)
	}
}

func TestKilledParentLeavesNoChildAndLosesNoAcknowledgedWrite(t *testing.T) {
	dir, executable := t.TempDir(), planetest.Executable(t)
	acknowledged := runVictim(t, dir, executable, 50)

	// Every component holds the lock as long as it lives.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	l, err := lock.Acquire(ctx, dir, "test")
	if err != nil {
		t.Fatalf("components outlive their parent: %v", err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}

	p := start(t, plane.Options{Dir: dir, Executable: executable})
	defer stop(t, p)
	configMaps := kubernetes.NewForConfigOrDie(p.Config()).CoreV1().ConfigMaps("default")
	for _, name := range acknowledged {
		if _, err := configMaps.Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			t.Errorf("acknowledged write is lost: %v", err)
		}
	}
}

// runVictim kills a victim right after its n-th acknowledged write.
func runVictim(t *testing.T, dir, executable string, n int) (acknowledged []string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], executable)
	cmd.Env = append(os.Environ(), victimDir+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); len(acknowledged) < n && lines.Scan(); {
		name, ok := strings.CutPrefix(lines.Text(), "acknowledged ")
		if !ok {
			t.Fatalf("victim: %s", lines.Text())
		}
		acknowledged = append(acknowledged, name)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if len(acknowledged) != n {
		t.Fatalf("the victim ended after %d writes", len(acknowledged))
	}
	return acknowledged
}
