// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providerbinary

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/pki"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/internal/sim/datacenter"
	"github.com/butlerdotdev/butler/internal/sim/simtest"
)

const namespace = "butler-system"

// fixture is a cluster with a ProviderConfig, a simulated platform, and the binary that is
// to be started between them.
type fixture struct {
	plane       *plane.Plane
	client      client.WithWatch
	kubeconfig  string // of the binary, with the permissions of the chart alone
	binary      string
	config      *v1alpha1.ProviderConfig
	credentials map[string][]byte
	simulator   *simtest.Simulator
}

// start starts all but the binary. The counter, if any, counts the calls to the platform.
func (s Suite) start(t testing.TB, profile datacenter.Profile, calls *counter) *fixture {
	t.Helper()
	log.SetLogger(logr.Discard())
	p := planetest.Start(t, plane.Options{AdmissionOff: []string{"ServiceAccount"}})
	f := &fixture{plane: p, client: newClient(t, p), binary: s.binary(t), config: &v1alpha1.ProviderConfig{}}
	Documented(t, s.page(), f.config)
	o := simtest.Options{Dir: t.TempDir(), Platform: s.Platform, Profile: profile, Seed: s.seed(t, f.config)}
	if calls != nil {
		o.Observe = calls.countCall
	}
	var err error
	f.simulator, err = simtest.Start(t.Context(), o)
	Must(t, err)
	t.Cleanup(func() {
		if err := f.simulator.Stop(); err != nil {
			t.Error(err)
		}
	})
	f.credentials, err = f.simulator.Credentials()
	Must(t, err)
	if s.Reach != nil {
		s.Reach(t, f.simulator.API, f.config, f.credentials)
	}
	secret := f.config.Spec.CredentialsRef.Name
	Must(t, f.client.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: secret}, Data: f.credentials}))
	Must(t, f.client.Create(t.Context(), f.config))
	f.kubeconfig = s.limited(t, p, f.client, secret)
	return f
}

// seed returns what the manifests of Page expect on the platform.
func (s Suite) seed(t testing.TB, config *v1alpha1.ProviderConfig) any {
	t.Helper()
	r, cb := &v1alpha1.MachineRequest{}, &v1alpha1.ClusterBootstrap{}
	Documented(t, s.page(), r)
	cb.Spec.Talos.Version, cb.Spec.Cluster.ControlPlane.ExtraDisks = r.Spec.TalosVersion, r.Spec.ExtraDisks
	return s.Platform.Seed(cb, config)
}

// newClient returns a client of the plane, in which the namespace exists.
func newClient(t testing.TB, p *plane.Plane) client.WithWatch {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, eventsv1.AddToScheme, v1alpha1.AddToScheme} {
		Must(t, add(s))
	}
	c, err := client.NewWithWatch(p.Config(), client.Options{Scheme: s})
	Must(t, err)
	Must(t, c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	return c
}

// secretPermissions are what the chart adds for a Secret of credentialsSecrets.
const secretPermissions = `
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: credentials, namespace: butler-system}
rules: [{apiGroups: [""], resources: [secrets], resourceNames: [%s], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: credentials, namespace: butler-system}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: credentials}
subjects: [{kind: ServiceAccount, name: %s, namespace: butler-system}]
`

// limited returns a kubeconfig of the ServiceAccount in config/rbac: with the permissions
// of the chart alone.
func (s Suite) limited(t testing.TB, p *plane.Plane, c client.Client, secret string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root(t), "config", "rbac", s.name()+".yaml"))
	Must(t, err)
	data = append(data, fmt.Sprintf(secretPermissions, secret, s.name())...)
	for part := range bytes.SplitSeq(data, []byte("\n---\n")) {
		o := &unstructured.Unstructured{}
		Must(t, yaml.Unmarshal(part, &o.Object))
		Must(t, c.Create(t.Context(), o))
	}
	config, err := p.Issue(pki.Request{CommonName: "system:serviceaccount:" + namespace + ":" + s.name()})
	Must(t, err)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	Must(t, plane.WriteKubeconfig(path, config))
	return path
}

// process is the binary as it runs.
type process struct {
	*exec.Cmd
	*planetest.Output
}

// startBinary runs the binary until the test ends.
func (f *fixture) startBinary(t testing.TB, args ...string) *process {
	t.Helper()
	out := &planetest.Output{}
	secret := namespace + "/" + f.config.Spec.CredentialsRef.Name
	cmd := exec.Command(f.binary, append([]string{"--kubeconfig", f.kubeconfig, "--leader-elect", "--credentials-secrets", secret}, args...)...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Dir = filepath.Dir(f.kubeconfig)
	Must(t, cmd.Start())
	t.Cleanup(func() {
		Must(t, cmd.Process.Signal(syscall.SIGTERM))
		hung := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) })
		defer hung.Stop()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the binary ended with %v:\n%s", err, out)
		}
	})
	return &process{cmd, out}
}

func (f *fixture) hasEvents(t testing.TB, reasons ...string) {
	t.Helper()
	await(t, nil, func() error {
		var list eventsv1.EventList
		Must(t, f.client.List(t.Context(), &list, client.InNamespace(namespace)))
		seen := map[string]bool{}
		for _, e := range list.Items {
			seen[e.Reason] = true
		}
		for _, r := range reasons {
			if !seen[r] {
				return fmt.Errorf("no event %s among %v", r, seen)
			}
		}
		return nil
	})
}

func await(t testing.TB, logs *planetest.Output, check func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); pause(t, 20*time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	if logs != nil {
		t.Logf("log of the binary:\n%s", logs)
	}
	t.Fatal(err)
}

// pause waits for a time, or until the test ends.
func pause(t testing.TB, d time.Duration) {
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}
