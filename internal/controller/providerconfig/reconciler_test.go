// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/internal/controller/session"
	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

var api *rest.Config

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(planetest.Run(m, plane.Options{AdmissionOff: []string{"ServiceAccount"}}, func(p *plane.Plane) {
		api = p.Config()
	}))
}

func scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
}

func await(check func() error) error {
	var err error
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if err = check(); err == nil {
			return nil
		}
	}
	return err
}

type fixture struct {
	*testing.T
	client.Client
	ns       string
	platform *inmemory.Platform
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	c, err := client.New(api, client.Options{Scheme: scheme()})
	if err != nil {
		t.Fatal(err)
	}
	w := &fixture{T: t, Client: c, platform: inmemory.New(inmemory.Options{})}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	w.must(c.Create(t.Context(), ns))
	w.ns = ns.Name
	m, err := manager.New(api, manager.Options{
		Scheme: scheme(), Metrics: server.Options{BindAddress: "0"},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{w.ns: {}}},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	w.must(err)
	s := session.New(session.Options{Provider: w.platform.Provider(v1alpha1.ProviderHarvester), Cache: m.GetClient(), Live: m.GetAPIReader()})
	w.must(m.Add(s))
	w.must(Register(m, request.Options{Type: v1alpha1.ProviderHarvester, Sessions: s}))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *fixture) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *fixture) secret() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "credentials"},
		StringData: map[string]string{"kubeconfig": "x"},
	}
}

func (w *fixture) config() *v1alpha1.ProviderConfig {
	c := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "config"}}
	c.Spec.Provider = v1alpha1.ProviderHarvester
	c.Spec.CredentialsRef = &v1alpha1.SecretReference{Name: "credentials"}
	c.Spec.Harvester = &v1alpha1.HarvesterSpec{NetworkName: "default/workloads"}
	return c
}

// ready waits until the Ready condition has the reason.
func (w *fixture) ready(c *v1alpha1.ProviderConfig, reason string) {
	w.Helper()
	w.must(await(func() error {
		if err := w.Get(w.Context(), client.ObjectKeyFromObject(c), c); err != nil {
			return err
		}
		if r := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady); r == nil || r.Reason != reason {
			return fmt.Errorf("conditions are %+v", c.Status.Conditions)
		}
		return nil
	}))
}

// says waits until the Ready condition has the message.
func (w *fixture) says(c *v1alpha1.ProviderConfig, message string) {
	w.Helper()
	w.must(await(func() error {
		if err := w.Get(w.Context(), client.ObjectKeyFromObject(c), c); err != nil {
			return err
		}
		if r := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady); r.Message != message {
			return fmt.Errorf("it says %q", r.Message)
		}
		return nil
	}))
}

func (w *fixture) finalizer(c *v1alpha1.ProviderConfig, want bool) {
	w.Helper()
	w.must(await(func() error {
		if err := w.Get(w.Context(), client.ObjectKeyFromObject(c), c); err != nil {
			return err
		}
		if slices.Contains(c.Finalizers, "butler.butlerlabs.dev/providerconfig") != want {
			return fmt.Errorf("finalizers are %v", c.Finalizers)
		}
		return nil
	}))
}

func TestAcceptedCredentialsMakeItReady(t *testing.T) {
	w := newFixture(t)
	c := w.config()
	w.must(w.Create(t.Context(), c))
	w.ready(c, "CredentialsNotFound")
	if c.Status.Ready || c.Status.Validated || c.Status.LastValidationTime != nil {
		t.Errorf("status is %+v", c.Status)
	}
	w.must(w.Create(t.Context(), w.secret()))
	w.ready(c, "CredentialsAccepted")
	if !c.Status.Ready || !c.Status.Validated || c.Status.LastValidationTime == nil {
		t.Errorf("status is %+v", c.Status)
	}
}

func TestRefusedCredentialsAreSaidAndHealWithTheSecret(t *testing.T) {
	w := newFixture(t)
	w.platform.Fail(inmemory.Connect, &provider.Error{Kind: provider.Unauthorized, Reason: "Refused", Op: "connect", Err: errors.New("no"), Hint: "renew it"})
	w.must(w.Create(t.Context(), w.secret()))
	c := w.config()
	w.must(w.Create(t.Context(), c))
	w.ready(c, "Refused")
	if c.Status.Ready || c.Status.Validated || c.Status.LastValidationTime == nil {
		t.Errorf("status is %+v", c.Status)
	}
	s := w.secret()
	w.must(w.Get(t.Context(), client.ObjectKeyFromObject(s), s))
	s.StringData = map[string]string{"kubeconfig": "y"}
	w.must(w.Update(t.Context(), s))
	w.ready(c, "CredentialsAccepted")
}

func TestAnUnreachablePlatformLeavesTheCredentialsValidated(t *testing.T) {
	w := newFixture(t)
	w.must(w.Create(t.Context(), w.secret()))
	c := w.config()
	w.must(w.Create(t.Context(), c))
	w.ready(c, "CredentialsAccepted")
	w.platform.Fail(inmemory.Connect, &provider.Error{Kind: provider.Unavailable, Reason: "Down", Op: "connect"})
	base := c.DeepCopy()
	c.Spec.Harvester.StorageClassName = "other"
	w.must(w.Patch(t.Context(), c, client.MergeFrom(base)))
	w.ready(c, "Down")
	if c.Status.Ready || !c.Status.Validated {
		t.Errorf("status is %+v", c.Status)
	}
	w.ready(c, "CredentialsAccepted")
}

func TestItIsKeptWhileReferenced(t *testing.T) {
	w := newFixture(t)
	w.must(w.Create(t.Context(), w.secret()))
	c := w.config()
	w.must(w.Create(t.Context(), c))
	w.ready(c, "CredentialsAccepted")
	w.finalizer(c, false)
	lb := &v1alpha1.LoadBalancerRequest{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "lb"}}
	lb.Spec.ClusterName, lb.Spec.ProviderConfigRef.Name = "mgmt", "config"
	lb.Spec.Port = 6443
	r := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "a"}}
	r.Spec = v1alpha1.MachineRequestSpec{
		ProviderRef: v1alpha1.ProviderReference{Name: "config", Namespace: w.ns}, MachineName: "a",
		Role: v1alpha1.RoleWorker, CPU: 2, MemoryMB: 2048, DiskGB: 20,
	}
	for _, o := range []client.Object{lb, r} {
		w.must(w.Create(t.Context(), o))
		w.finalizer(c, true)
		w.must(w.Delete(t.Context(), o))
		w.finalizer(c, false)
	}
	r.ResourceVersion, lb.ResourceVersion = "", ""
	w.must(w.Create(t.Context(), lb))
	w.must(w.Create(t.Context(), r))
	w.finalizer(c, true)
	w.must(w.Delete(t.Context(), c))
	w.ready(c, "InUse")
	w.says(c, fmt.Sprintf(`delete ProviderConfig "config": MachineRequest %s/a and 1 more refer to it; it goes with the last of them`, w.ns))
	if c.Status.Ready || !c.Status.Validated {
		t.Errorf("status is %+v", c.Status)
	}
	w.must(w.Delete(t.Context(), r))
	w.says(c, fmt.Sprintf(`delete ProviderConfig "config": LoadBalancerRequest %s/lb refers to it; it goes with the last of them`, w.ns))
	w.must(w.Delete(t.Context(), lb))
	w.must(await(func() error {
		err := w.Get(t.Context(), client.ObjectKeyFromObject(c), c)
		if err == nil {
			return fmt.Errorf("still there: %v", c.Finalizers)
		}
		return client.IgnoreNotFound(err)
	}))
}

func TestNothingIsWrittenWhileNothingChanges(t *testing.T) {
	w := newFixture(t)
	w.must(w.Create(t.Context(), w.secret()))
	c := w.config()
	w.must(w.Create(t.Context(), c))
	w.ready(c, "CredentialsAccepted")
	version, asked := c.ResourceVersion, w.platform.Calls(inmemory.Connect)
	s := w.secret()
	w.must(w.Get(t.Context(), client.ObjectKeyFromObject(s), s))
	s.Labels = map[string]string{"touched": "yes"}
	w.must(w.Update(t.Context(), s))
	w.must(await(func() error {
		if w.platform.Calls(inmemory.Connect) == asked {
			return errors.New("not asked again")
		}
		return nil
	}))
	time.Sleep(100 * time.Millisecond)
	w.must(w.Get(t.Context(), client.ObjectKeyFromObject(c), c))
	if c.ResourceVersion != version {
		t.Errorf("written: %+v", c.Status)
	}
}
