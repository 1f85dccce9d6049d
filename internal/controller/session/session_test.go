// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/provider"
)

// driver counts what is asked of it.
type driver struct {
	connected, closed int
	err               error
	credentials       string
	pushed            chan provider.MachineRef
	identity          provider.Identity
}

func (d *driver) connect(_ context.Context, c provider.Config) (provider.Platform, error) {
	d.connected++
	d.credentials = string(c.Credentials.Get("kubeconfig"))
	if d.err != nil {
		return provider.Platform{}, d.err
	}
	p := provider.Platform{Close: func() { d.closed++ }, Identity: d.identity}
	p.Identify = func(context.Context) (provider.Identity, error) { return d.identity, nil }
	if d.pushed != nil {
		p.Changes = func(context.Context) <-chan provider.MachineRef { return d.pushed }
	}
	return p, nil
}

func config() *v1alpha1.ProviderConfig {
	c := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "config", UID: "u", Generation: 1, ResourceVersion: "1"}}
	c.Spec.CredentialsRef = &v1alpha1.SecretReference{Name: "secret"}
	return c
}

func secret(value string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "secret", UID: "s"}, Data: map[string][]byte{"kubeconfig": []byte(value)}}
}

func sessions(t *testing.T, d *driver, objects ...client.Object) (*Sessions, client.Client) {
	t.Helper()
	s := runtime.NewScheme()
	if err := corev1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(s).WithObjects(objects...).Build()
	return New(Options{Provider: provider.Provider{Connect: d.connect}, Cache: c, Live: c}), c
}

func ask(t *testing.T, s *Sessions, c *v1alpha1.ProviderConfig) {
	t.Helper()
	if _, err := s.Platform(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

func TestAConnectionIsKeptUntilSpecOrSecretChange(t *testing.T) {
	d := &driver{}
	s, c := sessions(t, d, secret("a"))
	p := config()
	ask(t, s, p)
	p.ResourceVersion = "2" // a status was written
	ask(t, s, p)
	if d.connected != 1 || d.closed != 0 || d.credentials != "a" {
		t.Errorf("%+v", d)
	}
	p.Generation = 2
	ask(t, s, p)
	if d.connected != 2 || d.closed != 1 {
		t.Errorf("after a change of the spec: %+v", d)
	}
	changed := secret("b")
	if err := c.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	ask(t, s, p)
	if d.connected != 3 || d.closed != 2 || d.credentials != "b" {
		t.Errorf("after a change of the Secret: %+v", d)
	}
	s.Forget(client.ObjectKeyFromObject(p))
	if d.closed != 3 {
		t.Errorf("after the end: %+v", d)
	}
}

func TestAFailedConnectAnswersForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &driver{err: errors.New("down")}
		s, _ := sessions(t, d, secret("a"))
		for range 3 {
			if _, err := s.Platform(t.Context(), config()); !errors.Is(err, d.err) {
				t.Errorf("got %v", err)
			}
		}
		if d.connected != 1 {
			t.Errorf("connected %d times", d.connected)
		}
		time.Sleep(errorKept)
		d.err = nil
		ask(t, s, config())
	})
}

func TestAMissingSecretPassesByItself(t *testing.T) {
	s, _ := sessions(t, &driver{})
	_, err := s.Platform(t.Context(), config())
	if provider.KindOf(err) != provider.Unavailable || provider.ReasonOf(err) != "CredentialsNotFound" {
		t.Errorf("got %v", err)
	}
}

// readable are Secrets by their names.
type readable []string

func (r readable) Allows(name types.NamespacedName) bool { return slices.Contains(r, name.String()) }

func (r readable) String() string { return strings.Join(r, ", ") }

func TestASecretThatMayNotBeReadIsNotAskedFor(t *testing.T) {
	d := &driver{}
	s, _ := sessions(t, d, secret("a"))
	s.readable = readable{"butler-system/a", "other/secret"}
	_, err := s.Platform(t.Context(), config())
	if provider.KindOf(err) != provider.Unavailable || provider.ReasonOf(err) != "CredentialsUnreadable" {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"butler-system/a, other/secret", "add ns/secret to credentialsSecrets"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	if err := s.Probe(t.Context(), config(), nil); provider.ReasonOf(err) != "CredentialsUnreadable" || d.connected != 0 {
		t.Errorf("probe: %v, connected %d times", err, d.connected)
	}
	s.readable = readable{"ns/secret"}
	ask(t, s, config())
}

func TestASecretOfAnotherNamespaceHasToAllowTheProviderConfig(t *testing.T) {
	d := &driver{}
	s, c := sessions(t, d, secret("a"))
	p := config()
	p.Namespace, p.Spec.CredentialsRef.Namespace = "team", "ns"
	_, err := s.Platform(t.Context(), p)
	if provider.ReasonOf(err) != "CredentialsNotGranted" || !strings.Contains(err.Error(), "have team added to its annotation "+v1alpha1.AnnotationAllowedNamespaces) {
		t.Errorf("got %v", err)
	}
	if err := s.Probe(t.Context(), p, nil); provider.ReasonOf(err) != "CredentialsNotGranted" || d.connected != 0 {
		t.Errorf("probe: %v, connected %d times", err, d.connected)
	}
	allowed := secret("a")
	allowed.Annotations = map[string]string{v1alpha1.AnnotationAllowedNamespaces: "team"}
	if err := c.Update(t.Context(), allowed); err != nil {
		t.Fatal(err)
	}
	ask(t, s, p)
}

func TestAProbeConnectsByItselfAndCloses(t *testing.T) {
	d := &driver{}
	s, _ := sessions(t, d, secret("a"))
	ask(t, s, config())
	used := false
	if err := s.Probe(t.Context(), config(), func(*provider.Platform) error { used = true; return nil }); err != nil {
		t.Fatal(err)
	}
	if !used || d.connected != 2 || d.closed != 1 {
		t.Errorf("%+v, used %v", d, used)
	}
}

func TestAConnectionThatReachesAnotherPlatformIsGivenUp(t *testing.T) {
	d := &driver{identity: "id=1"}
	s, _ := sessions(t, d, secret("one"))
	c := config()
	first, err := s.Platform(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, now := range []provider.Identity{"id=1", "id=2"} {
		d.identity = now
		if got, err := s.Identify(t.Context(), client.ObjectKeyFromObject(c), first); err != nil || got != now {
			t.Errorf("identified as %q, %v", got, err)
		}
		ask(t, s, c)
	}
	if d.connected != 2 || d.closed != 1 {
		t.Errorf("%d connections, %d closed", d.connected, d.closed)
	}
}

func TestChangesAreForwardedAndAllIsClosedInTheEnd(t *testing.T) {
	d := &driver{pushed: make(chan provider.MachineRef, 1)}
	s, _ := sessions(t, d, secret("a"))
	ask(t, s, config())
	d.pushed <- provider.MachineRef{Name: "a"}
	select {
	case e := <-s.Changes():
		if e.Object.Ref.Name != "a" || e.Object.Config.Name != "config" {
			t.Errorf("forwarded %+v", e.Object)
		}
	case <-time.After(time.Minute):
		t.Fatal("nothing is forwarded")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Start(ctx); err != nil || d.closed != 1 {
		t.Errorf("%v, %+v", err, d)
	}
}

func TestTheNamespaceOfTheSecretIsThatOfTheProviderConfig(t *testing.T) {
	c := config()
	if got := c.CredentialsSecret().String(); got != "ns/secret" {
		t.Error(got)
	}
	c.Spec.CredentialsRef.Namespace = "other"
	if got := c.CredentialsSecret().String(); got != "other/secret" {
		t.Error(got)
	}
	c.Spec.CredentialsRef = nil
	if got := c.CredentialsSecret(); got.Name != "" {
		t.Error(got)
	}
}

func TestAConnectionThatIsRefusedIsGivenUpOnceInAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &driver{}
		s, _ := sessions(t, d, secret("a"))
		name := client.ObjectKeyFromObject(config())
		refused := &provider.Error{Kind: provider.Unauthorized}
		platform := func() *provider.Platform {
			p, err := s.Platform(t.Context(), config())
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		first := platform()
		if s.Refused(name, first, nil) || s.Refused(name, first, &provider.Error{Kind: provider.Unavailable}) || d.closed != 0 {
			t.Error("given up for another answer")
		}
		if !s.Refused(name, first, refused) || d.closed != 1 {
			t.Error("not given up")
		}
		second := platform()
		if d.connected != 2 || !s.Refused(name, first, refused) || d.closed != 1 {
			t.Errorf("a later answer over the old connection: %+v", d)
		}
		if s.Refused(name, second, refused) || d.closed != 1 {
			t.Error("given up again at once")
		}
		time.Sleep(renewEvery)
		if !s.Refused(name, second, refused) || d.closed != 2 {
			t.Error("not given up after a while")
		}
	})
}
