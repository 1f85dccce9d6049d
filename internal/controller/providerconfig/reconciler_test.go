// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package providerconfig

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/controllertest"
	"github.com/butlerdotdev/butler/internal/controller/request"
	"github.com/butlerdotdev/butler/internal/controller/session"
	"github.com/butlerdotdev/butler/provider"
	"github.com/butlerdotdev/butler/provider/inmemory"
)

var api *rest.Config

func TestMain(m *testing.M) { controllertest.Main(m, &api) }

type fixture struct {
	*controllertest.Fixture
	platform *inmemory.Platform
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return newFixtureWith(t, inmemory.Options{})
}

func newFixtureWith(t *testing.T, o inmemory.Options) *fixture {
	t.Helper()
	w := &fixture{controllertest.New(t, api), inmemory.New(o)}
	m := w.Manager()
	s := session.New(session.Options{Provider: w.platform.Provider(v1alpha1.ProviderHarvester), Cache: m.GetClient(), Live: m.GetAPIReader()})
	w.Must(m.Add(s))
	w.Must(Register(m, request.Options{Type: v1alpha1.ProviderHarvester, Sessions: s}))
	controllertest.Run(t, m)
	return w
}

// ready waits until the Ready condition has the reason.
func (w *fixture) ready(c *v1alpha1.ProviderConfig, reason string) {
	w.Helper()
	w.Await(func() error {
		if err := w.Get(w.Context(), client.ObjectKeyFromObject(c), c); err != nil {
			return err
		}
		if r := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady); r == nil || r.Reason != reason {
			return fmt.Errorf("conditions are %+v", c.Status.Conditions)
		}
		return nil
	})
}

// says waits until the Ready condition has the message.
func (w *fixture) says(c *v1alpha1.ProviderConfig, message string) {
	w.Helper()
	w.Await(func() error {
		if err := w.Get(w.Context(), client.ObjectKeyFromObject(c), c); err != nil {
			return err
		}
		if r := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady); r.Message != message {
			return fmt.Errorf("it says %q", r.Message)
		}
		return nil
	})
}

func (w *fixture) finalizer(c *v1alpha1.ProviderConfig, want bool) {
	w.Helper()
	w.Await(func() error {
		if err := w.Get(w.Context(), client.ObjectKeyFromObject(c), c); err != nil {
			return err
		}
		if slices.Contains(c.Finalizers, "butler.butlerlabs.dev/providerconfig") != want {
			return fmt.Errorf("finalizers are %v", c.Finalizers)
		}
		return nil
	})
}

func TestAcceptedCredentialsMakeItReady(t *testing.T) {
	w := newFixture(t)
	c := w.Config(v1alpha1.ProviderHarvester)
	w.Must(w.Create(t.Context(), c))
	w.ready(c, "CredentialsNotFound")
	if c.Status.Ready || c.Status.Validated || c.Status.LastValidationTime != nil {
		t.Errorf("status is %+v", c.Status)
	}
	w.Must(w.Create(t.Context(), w.Secret()))
	w.ready(c, "CredentialsAccepted")
	if !c.Status.Ready || !c.Status.Validated || c.Status.LastValidationTime == nil {
		t.Errorf("status is %+v", c.Status)
	}
}

func TestTheEndOfCredentialsIsReported(t *testing.T) {
	end := time.Now().Add(time.Hour)
	w := newFixtureWith(t, inmemory.Options{Lifetime: provider.Lifetime{Temporary: true, Ends: end}})
	w.Configure()
	c := w.Config(v1alpha1.ProviderHarvester)
	w.ready(c, "CredentialsAccepted")
	if got := c.Status.CredentialsExpire; !c.Status.CredentialsTemporary || got == nil || got.Unix() != end.Unix() {
		t.Errorf("they expire at %v, not %v", got, end)
	}
}

func TestRefusedCredentialsAreSaidAndHealWithTheSecret(t *testing.T) {
	w := newFixture(t)
	w.platform.Fail(inmemory.Connect, &provider.Error{Kind: provider.Unauthorized, Reason: "Refused", Op: "connect", Err: errors.New("no"), Hint: "renew it"})
	w.Must(w.Create(t.Context(), w.Secret()))
	c := w.Config(v1alpha1.ProviderHarvester)
	w.Must(w.Create(t.Context(), c))
	w.ready(c, "Refused")
	if c.Status.Ready || c.Status.Validated || c.Status.LastValidationTime == nil {
		t.Errorf("status is %+v", c.Status)
	}
	s := w.Secret()
	w.Must(w.Get(t.Context(), client.ObjectKeyFromObject(s), s))
	s.StringData = map[string]string{"kubeconfig": "y"}
	w.Must(w.Update(t.Context(), s))
	w.ready(c, "CredentialsAccepted")
}

func TestAnUnreachablePlatformLeavesTheCredentialsValidated(t *testing.T) {
	w := newFixture(t)
	w.Must(w.Create(t.Context(), w.Secret()))
	c := w.Config(v1alpha1.ProviderHarvester)
	w.Must(w.Create(t.Context(), c))
	w.ready(c, "CredentialsAccepted")
	w.platform.Fail(inmemory.Connect, &provider.Error{Kind: provider.Unavailable, Reason: "Down", Op: "connect"})
	base := c.DeepCopy()
	c.Spec.Harvester.StorageClassName = "other"
	w.Must(w.Patch(t.Context(), c, client.MergeFrom(base)))
	w.ready(c, "Down")
	if c.Status.Ready || !c.Status.Validated {
		t.Errorf("status is %+v", c.Status)
	}
	w.ready(c, "CredentialsAccepted")
}

func TestItIsKeptWhileReferenced(t *testing.T) {
	w := newFixture(t)
	w.Must(w.Create(t.Context(), w.Secret()))
	c := w.Config(v1alpha1.ProviderHarvester)
	w.Must(w.Create(t.Context(), c))
	w.ready(c, "CredentialsAccepted")
	w.finalizer(c, false)
	lb := &v1alpha1.LoadBalancerRequest{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "lb"}}
	lb.Spec.ClusterName, lb.Spec.ProviderConfigRef.Name = "mgmt", "config"
	lb.Spec.Port = 6443
	r := &v1alpha1.MachineRequest{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "a"}}
	r.Spec = v1alpha1.MachineRequestSpec{
		ProviderRef: v1alpha1.ProviderReference{Name: "config", Namespace: w.Namespace}, MachineName: "a",
		Role: v1alpha1.RoleWorker, CPU: 2, MemoryMB: 2048, DiskGB: 20,
	}
	for _, o := range []client.Object{lb, r} {
		w.Must(w.Create(t.Context(), o))
		w.finalizer(c, true)
		w.Must(w.Delete(t.Context(), o))
		w.finalizer(c, false)
	}
	r.ResourceVersion, lb.ResourceVersion = "", ""
	w.Must(w.Create(t.Context(), lb))
	w.Must(w.Create(t.Context(), r))
	w.finalizer(c, true)
	w.Must(w.Delete(t.Context(), c))
	w.ready(c, "InUse")
	w.says(c, fmt.Sprintf(`delete ProviderConfig "config": MachineRequest %s/a and 1 more refer to it; it goes with the last of them`, w.Namespace))
	if c.Status.Ready || !c.Status.Validated {
		t.Errorf("status is %+v", c.Status)
	}
	w.Must(w.Delete(t.Context(), r))
	w.says(c, fmt.Sprintf(`delete ProviderConfig "config": LoadBalancerRequest %s/lb refers to it; it goes with the last of them`, w.Namespace))
	w.Must(w.Delete(t.Context(), lb))
	w.Await(func() error {
		err := w.Get(t.Context(), client.ObjectKeyFromObject(c), c)
		if err == nil {
			return fmt.Errorf("still there: %v", c.Finalizers)
		}
		return client.IgnoreNotFound(err)
	})
}

func TestNothingIsWrittenWhileNothingChanges(t *testing.T) {
	w := newFixture(t)
	w.Must(w.Create(t.Context(), w.Secret()))
	c := w.Config(v1alpha1.ProviderHarvester)
	w.Must(w.Create(t.Context(), c))
	w.ready(c, "CredentialsAccepted")
	version, asked := c.ResourceVersion, w.platform.Calls(inmemory.Connect)
	s := w.Secret()
	w.Must(w.Get(t.Context(), client.ObjectKeyFromObject(s), s))
	s.Labels = map[string]string{"touched": "yes"}
	w.Must(w.Update(t.Context(), s))
	w.Await(func() error {
		if w.platform.Calls(inmemory.Connect) == asked {
			return errors.New("not asked again")
		}
		return nil
	})
	time.Sleep(100 * time.Millisecond)
	w.Must(w.Get(t.Context(), client.ObjectKeyFromObject(c), c))
	if c.ResourceVersion != version {
		t.Errorf("written: %+v", c.Status)
	}
}
