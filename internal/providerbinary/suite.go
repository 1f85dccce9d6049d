// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package providerbinary tests and measures the binary of a provider against its simulated
// platform, as users run it: a cluster with the CRDs, the permissions of the chart, and the
// manifests of the documentation.
package providerbinary

import (
	"cmp"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/facade"
)

// Suite is a provider's binary and its simulated platform. All fields but Page and Reach are
// required.
type Suite struct {
	Platform facade.Platform
	// Page is the page below docs with the ProviderConfig and the MachineRequest that the
	// tests apply; empty: the guide.
	Page string
	// Objects is how many objects the machine of Page has on the platform, Count counts
	// those of all machines.
	Objects int
	Count   func(testing.TB, facade.API) int
	// Running delivers the name of each machine when it runs and has an address, as the
	// platform's administrator sees it. It may deliver a name several times.
	Running func(testing.TB, facade.API) <-chan string
	// Reach changes the documented ProviderConfig and its credentials so that they name
	// the simulated platform. Nil means that the credentials do.
	Reach func(t testing.TB, api facade.API, c *v1alpha1.ProviderConfig, credentials map[string][]byte)
}

// name is that of the binary and of the directory of its main package.
func (s Suite) name() string { return "butler-provider-" + string(s.Platform.Type) }

func (s Suite) page() string {
	return cmp.Or(s.Page, "getting-started/"+string(s.Platform.Type)+".md")
}

func (s Suite) binary(t testing.TB) string {
	t.Helper()
	built, err := planetest.Build(t.Context(), "github.com/butlerdotdev/butler/cmd/"+s.name())
	Must(t, err)
	return built
}

// VersionAndWrongArguments checks what the binary prints without a cluster.
func (s Suite) VersionAndWrongArguments(t *testing.T) {
	out, err := exec.Command(s.binary(t), "--version").Output()
	if err != nil || !strings.HasPrefix(string(out), s.name()+" v") {
		t.Errorf("--version prints %q, %v", out, err)
	}
	for _, args := range [][]string{{"--no-such-flag"}, {"stray"}, {"--kubeconfig", "/does/not/exist"}} {
		out, err := exec.Command(s.binary(t), args...).CombinedOutput()
		if err == nil || len(out) == 0 {
			t.Errorf("%v prints %q, %v", args, out, err)
		}
	}
}

// RequestRunsAndIsGoneAgain applies the manifests of Page and deletes the MachineRequest
// again.
func (s Suite) RequestRunsAndIsGoneAgain(t *testing.T) {
	f := s.start(t, datacenter.Profile{}, nil)
	logs := f.startBinary(t).Output
	r := &v1alpha1.MachineRequest{}
	Documented(t, s.page(), r)
	r.Spec.UserData += "# canary " + strings.Repeat("x", 3000)
	began := time.Now()
	Must(t, f.client.Create(t.Context(), r))
	await(t, logs, func() error {
		Must(t, f.client.Get(t.Context(), client.ObjectKeyFromObject(r), r))
		if r.Status.Phase != v1alpha1.MachineRunning || r.Status.IPAddress == "" {
			return fmt.Errorf("status is %+v", r.Status)
		}
		return nil
	})
	t.Logf("running at %s after %v", r.Status.IPAddress, time.Since(began).Round(time.Millisecond))
	f.isReady(t)
	if n := s.Count(t, f.simulator.API); n != s.Objects {
		t.Errorf("%d objects on the platform, want %d", n, s.Objects)
	}
	Must(t, f.client.Delete(t.Context(), r))
	await(t, logs, func() error {
		err := f.client.Get(t.Context(), client.ObjectKeyFromObject(r), r)
		if err == nil {
			return fmt.Errorf("still there: %+v", r.Status)
		}
		return client.IgnoreNotFound(err)
	})
	if n := s.Count(t, f.simulator.API); n != 0 {
		t.Errorf("%d objects are left on the platform", n)
	}
	f.hasEvents(t, "VMCreated", "VMRunning", "VMDeleting", "VMDeleted")
	f.isClean(t, logs.String())
}

func (f *fixture) isReady(t *testing.T) {
	t.Helper()
	Must(t, f.client.Get(t.Context(), client.ObjectKeyFromObject(f.config), f.config))
	if !f.config.Status.Ready || !meta.IsStatusConditionTrue(f.config.Status.Conditions, "Ready") {
		t.Errorf("ProviderConfig status is %+v", f.config.Status)
	}
}

// isClean demands a log without errors, user data and credentials.
func (f *fixture) isClean(t *testing.T, logs string) {
	t.Helper()
	if strings.Contains(logs, "forbidden") || strings.Contains(logs, `"level":"ERROR"`) {
		t.Errorf("the log has errors:\n%s", logs)
	}
	if strings.Contains(logs, "canary") {
		t.Error("the log has user data in it")
	}
	for key, value := range f.credentials {
		for line := range strings.Lines(string(value)) {
			if text := strings.TrimSpace(line); len(text) > 40 && strings.Contains(logs, text) {
				t.Errorf("the log has credentials in it: a line of %s", key)
			}
		}
	}
}
