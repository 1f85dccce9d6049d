// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/butlerdotdev/butler/internal/lock"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/ui"
)

const (
	example   = "../../configs/examples/harvester-single-node.yaml"
	exampleHA = "../../configs/examples/harvester-ha.yaml"
	// addonsNone switches off everything that is installed by default.
	addonsNone = `  addons:
    cni: {type: none}
    storage: {type: none}
    loadBalancer: {type: none}
    certManager: {enabled: false}
    ingress: {enabled: false}
    controlPlaneProvider: {type: none}
    capi: {enabled: false}
    butlerController: {enabled: false}
    gitOps: {enabled: false}
`
)

var executable = sync.OnceValues(func() (string, error) {
	return planetest.Build(context.Background(), "github.com/butlerdotdev/butler/cmd/butleradm")
})

// adm is butleradm with a home of its own.
type adm struct {
	*testing.T
	path, home string
}

// result is how a command ended.
type result struct {
	code     int
	out, err string
}

func newAdm(t *testing.T) adm {
	t.Helper()
	path, err := executable()
	if err != nil {
		t.Fatal(err)
	}
	a := adm{t, path, t.TempDir()}
	t.Cleanup(func() {
		if r := a.run("sim", "stop"); r.code != 0 {
			t.Errorf("sim stop: %s", r.err)
		}
		a.expectNoProcess()
	})
	return a
}

// hanging is how long a command of a test cannot take.
const hanging = 6 * time.Minute

// ownKubeconfig is the variable with the kubeconfig that a test has put into the
// environment of its commands.
const ownKubeconfig = "BUTLER_TEST_KUBECONFIG"

// command is butleradm with arguments. If it hangs, it prints where, and is killed.
func (a adm) command(args ...string) (*exec.Cmd, *planetest.Output, *planetest.Output) {
	a.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hanging)
	cmd, hung := exec.CommandContext(ctx, a.path, args...), atomic.Bool{}
	cmd.Cancel = func() error {
		hung.Store(errors.Is(ctx.Err(), context.DeadlineExceeded))
		return cmd.Process.Signal(syscall.SIGQUIT)
	}
	cmd.WaitDelay = 10 * time.Second
	// The tests do not use the ambient credentials of the user who runs them.
	kubeconfig := cmp.Or(os.Getenv(ownKubeconfig), filepath.Join(a.home, "no-kubeconfig"))
	cmd.Env = append(os.Environ(), "BUTLER_HOME="+a.home, "KUBECONFIG="+kubeconfig)
	var out, err planetest.Output
	cmd.Stdout, cmd.Stderr = &out, &err
	a.Cleanup(func() {
		if hung.Load() {
			a.Errorf("butleradm %s hangs:\n%s%s", strings.Join(args, " "), &out, &err)
		}
		cancel()
	})
	return cmd, &out, &err
}

func (a adm) run(args ...string) result {
	a.Helper()
	cmd, out, err := a.command(args...)
	if e := cmd.Run(); e != nil && !errors.As(e, new(*exec.ExitError)) {
		a.Fatal(e)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), err.String()}
}

// ok is run for a command that must succeed.
func (a adm) ok(args ...string) result {
	a.Helper()
	r := a.run(args...)
	if r.code != 0 {
		a.Fatalf("butleradm %s: exit %d\n%s%s", strings.Join(args, " "), r.code, r.out, r.err)
	}
	return r
}

func (a adm) bootstrap(args ...string) []string {
	return append([]string{"bootstrap", "harvester", "-c", example, "--rehearse", "--timeout", "5m"}, args...)
}

// stopAfter runs a command and sends it a signal after some time.
func (a adm) stopAfter(d time.Duration, s os.Signal, args ...string) result {
	a.Helper()
	cmd, out, err := a.command(args...)
	if e := cmd.Start(); e != nil {
		a.Fatal(e)
	}
	timer := time.AfterFunc(d, func() { _ = cmd.Process.Signal(s) })
	defer timer.Stop()
	_ = cmd.Wait()
	return result{cmd.ProcessState.ExitCode(), out.String(), err.String()}
}

// expectNoProcess takes every lock below the home: each process of ours holds
// one as long as it lives.
func (a adm) expectNoProcess() {
	a.Helper()
	// The test's own context has ended by the time that it is cleaned up.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err := filepath.WalkDir(a.home, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != "lock" {
			return err
		}
		l, err := lock.Acquire(ctx, filepath.Dir(path), "test")
		if err != nil {
			a.Errorf("a process is left: %v", err)
			return nil
		}
		return l.Release()
	})
	if err != nil {
		a.Error(err)
	}
}

// file writes a text to a private file.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// edited is an example with some words replaced.
func edited(t *testing.T, path string, oldnew ...string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(oldnew); i += 2 {
		if !strings.Contains(string(data), oldnew[i]) {
			t.Fatalf("%s has no %q", path, oldnew[i])
		}
	}
	return strings.NewReplacer(oldnew...).Replace(string(data))
}

// kubeSecret is a document with the credentials that the examples refer to.
func kubeSecret(kubeconfig string) string {
	return fmt.Sprintf("---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: harvester-kubeconfig\nstringData:\n  kubeconfig: %q\n", kubeconfig)
}

// TestKINDWithoutAnEngineIsRefused has no container engine, whatever this machine has.
func TestKINDWithoutAnEngineIsRefused(t *testing.T) {
	a := newAdm(t)
	t.Setenv("PATH", t.TempDir())
	a.run(a.bootstrap("--plane", "kind")...).expect(t, 2, "--plane kind needs Docker or Podman, and this machine has neither; leave out --plane: the embedded plane needs nothing")
	if left, err := filepath.Glob(filepath.Join(a.home, "*", "*")); err != nil || len(left) != 0 {
		t.Errorf("state was left: %v, %v", left, err)
	}
}

func TestWrongUseIsRefusedAndLeavesNothing(t *testing.T) {
	a := newAdm(t)
	typo := file(t, "typo.yaml", edited(t, example, "memoryMB", "memoryMb", "cpu: 4", "cpu: 0"))
	bare := file(t, "real.yaml", edited(t, example)+addonsNone)
	both := file(t, "both.yaml", edited(t, example)+addonsNone+kubeSecret("x"))
	words := file(t, "words", "just words")
	nutanix := file(t, "nutanix.yaml", edited(t, example, "provider: harvester", "provider: nutanix",
		"harvester:\n    namespace: default\n    networkName: default/workloads\n    imageName: default/talos-v1.9.2",
		"nutanix:\n    endpoint: https://prism.example.com\n    clusterUUID: 00000000-0000-4000-8000-000000000001\n    subnetUUID: 00000000-0000-4000-8000-000000000002\n    imageUUID: 00000000-0000-4000-8000-000000000003")+addonsNone)
	foreign := t.TempDir()
	important := filepath.Join(foreign, "sim", "important.txt")
	if err := errors.Join(os.Mkdir(filepath.Dir(important), 0o755), os.WriteFile(important, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	unfit := file(t, "unfit.yaml", edited(t, example)+"  addons:\n    certManager: {enabled: false}\n    capi: {enabled: false}\n")
	for reason, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"misspelled field":           {[]string{"bootstrap", "harvester", "--rehearse", "-c", typo}, 2, typo + ":34: spec.cluster.controlPlane.memoryMb: unknown field; did you mean memoryMB?\n"},
		"value out of range":         {[]string{"bootstrap", "harvester", "--rehearse", "-c", typo}, 2, typo + ":33: spec.cluster.controlPlane.cpu: 0 should be greater than or equal to 1\n"},
		"count of problems":          {[]string{"bootstrap", "harvester", "--rehearse", "-c", typo}, 2, "butleradm: 3 problems in " + typo + "; nothing was changed\n"},
		"addons that do not fit":     {[]string{"bootstrap", "harvester", "-c", unfit, "--rehearse"}, 2, "steward needs cert-manager: set spec.addons.certManager.enabled to true, or spec.addons.controlPlaneProvider.type to none"},
		"charts from nowhere":        {a.bootstrap("--charts", "/no/such"), 2, "--charts: charts cannot come from /no/such, which does not exist"},
		"charts from a file":         {[]string{"bootstrap", "harvester", "-c", bare, "--yes", "--charts", words}, 2, "which is not a directory"},
		"addons that do not fit too": {[]string{"addons", "-c", unfit}, 2, "steward needs cert-manager"},
		"unknown controller":         {[]string{"controller", "butler-x", "--leader-elect"}, 2, `unknown controller "butler-x"; known are butler-bootstrap, butler-controller, butler-provider-harvester`},
		"real, two sources":          {[]string{"bootstrap", "harvester", "-c", both, "--yes", "--credentials", words}, 2, "two sources of credentials"},
		"real, no ambient":           {[]string{"bootstrap", "harvester", "-c", bare, "--yes"}, 2, "there are no credentials for harvester: add the Secret harvester-kubeconfig to the manifest"},
		"another provider":           {[]string{"bootstrap", "nutanix", "-c", example, "--rehearse"}, 2, "spec.provider: is harvester; run butleradm bootstrap harvester"},
		"manifest of another one":    {[]string{"bootstrap", "harvester", "-c", nutanix, "--rehearse"}, 2, "spec.provider: is nutanix; run butleradm bootstrap nutanix"},
		"orphans, no credentials":    {[]string{"destroy", "--orphans", "-c", nutanix, "--yes"}, 2, "there are no credentials for nutanix"},
		"foreign simulator":          {a.bootstrap("--state-dir", foreign), 2, foreign + "/sim was not created by butleradm; move it elsewhere, or choose another --state-dir\n"},
		"foreign simulator, real":    {[]string{"bootstrap", "harvester", "-c", both, "--yes", "--state-dir", foreign}, 2, foreign + "/sim was not created by butleradm"},
		"destroy beside foreign":     {[]string{"destroy", "dev-cluster", "--yes", "--state-dir", foreign}, 2, foreign + "/sim was not created by butleradm"},
		"forget beside foreign":      {[]string{"forget", "dev-cluster", "--yes", "--even-if-left", "--state-dir", foreign}, 2, foreign + "/sim was not created by butleradm"},
		"status beside foreign":      {[]string{"status", "dev-cluster", "--state-dir", foreign}, 2, foreign + "/sim was not created by butleradm"},
		"plane in a foreign place":   {[]string{"plane", "--state-dir", foreign}, 2, foreign + " was not created by butleradm"},
		"sim in a foreign place":     {[]string{"sim", "harvester", "--state-dir", foreign}, 2, foreign + " was not created by butleradm"},
		"sim stop beside foreign":    {[]string{"sim", "stop", "--state-dir", foreign}, 2, foreign + "/sim was not created by butleradm"},
		"node image without KIND":    {a.bootstrap("--node-image", "node:v1"), 2, "--node-image is for --plane kind"},
		"images without KIND":        {a.bootstrap("--images", words), 2, "--images is for --plane kind"},
		"a plane of words":           {a.bootstrap("--plane", words), 2, "read the kubeconfig of the plane: "},
		"plan and two sources":       {[]string{"plan", "-c", both, "--credentials", words}, 2, "two sources of credentials"},
		"path as a cluster":          {[]string{"destroy", "../x", "--yes"}, 2, "is not the name of a cluster"},
	} {
		t.Run(reason, func(t *testing.T) {
			r := a.run(c.args...)
			if r.code != c.code || !strings.Contains(r.err, c.want) {
				t.Errorf("exit %d, want %d with %q:\n%s", r.code, c.code, c.want, r.err)
			}
		})
	}
	if left, err := filepath.Glob(filepath.Join(foreign, "*")); err != nil || len(left) != 1 {
		t.Errorf("beside foreign files: %v, %v", left, err)
	}
	if _, err := os.Stat(important); err != nil {
		t.Errorf("a file of the user's: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(a.home, "*", "*")); err != nil || len(left) != 0 {
		t.Errorf("state was left: %v, %v", left, err)
	}
}

func TestRefusedManifestIsReportedAsEvents(t *testing.T) {
	a := newAdm(t)
	typo := file(t, "typo.yaml", edited(t, example, "memoryMB", "memoryMb"))
	r := a.run("bootstrap", "harvester", "-c", typo, "--rehearse", "--output", "json")
	all := events(t, r.out)
	if r.code != 2 || len(all) != 3 {
		t.Fatalf("exit %d with %d events:\n%s", r.code, len(all), r.out)
	}
	want := ui.Problem{File: typo, Line: 34, Field: "spec.cluster.controlPlane.memoryMb"}
	if e := all[1]; e.Type != ui.EventProblem || e.Problem == nil || *e.Problem != want {
		t.Errorf("event %+v", e)
	}
	if e := all[2]; e.Type != ui.EventFailed || e.Code != 2 || !strings.HasPrefix(e.Message, "2 problems in ") {
		t.Errorf("event %+v", e)
	}
}

func TestPlaneRunsUntilInterruptedAndIsRefusedTwice(t *testing.T) {
	a := newAdm(t)
	dir := filepath.Join(a.home, "plane")
	cmd, out, _ := a.command("plane", "--state-dir", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return strings.Contains(out.String(), "ready in") })
	if want := "kubeconfig: " + dir + "/kubeconfig\n"; !strings.HasPrefix(out.String(), want) {
		t.Errorf("printed %q, want %q first", out.String(), want)
	}
	second := a.run("plane", "--state-dir", dir)
	if want := fmt.Sprintf("butleradm plane (pid %d", cmd.Process.Pid); second.code != 1 || !strings.Contains(second.err, want) {
		t.Errorf("second start: exit %d, %s", second.code, second.err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after Ctrl-C: %v", err)
	}
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("timed out")
		}
	}
}
