// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/addon/source"
)

func TestMarkIsOfWhatIsApplied(t *testing.T) {
	base := addon.Addon{
		Key: "tea", Version: "1", Values: map[string]any{"a": 1}, Source: addon.Source{Kind: addon.ChartRepository},
		Objects: []*unstructured.Unstructured{objectOf("{kind: Tea}")},
	}
	mark := func(change func(*addon.Addon), more ...string) string {
		a := base
		change(&a)
		m, err := addonMark(a, more...)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	same := mark(func(*addon.Addon) {})
	for what, change := range map[string]func(*addon.Addon){
		"version": func(a *addon.Addon) { a.Version = "2" }, "values": func(a *addon.Addon) { a.Values = map[string]any{"a": 2} },
		"provider": func(a *addon.Addon) { a.Providers = []addon.Provider{{Name: "tea", Version: "v1"}} },
	} {
		if mark(change) == same {
			t.Errorf("another %s is not noticed", what)
		}
	}
	if mark(func(*addon.Addon) {}, "other credentials") == same {
		t.Error("other credentials are not noticed")
	}
	for what, change := range map[string]func(*addon.Addon){
		"needs":     func(a *addon.Addon) { a.Needs = []string{"milk"} },
		"readiness": func(a *addon.Addon) { a.Ready.CRDs = []string{"teas"} },
		"objects":   func(a *addon.Addon) { a.Objects = nil },
	} {
		if mark(change) != same {
			t.Errorf("other %s would have the source applied again", what)
		}
	}
	if objectsMark(base) == "" || objectsMark(base) == objectsMark(addon.Addon{Objects: []*unstructured.Unstructured{objectOf("{kind: Milk}")}}) {
		t.Error("other objects that follow are not noticed")
	}
}

// TestCredentialsAreNeverPrinted looks for one in the record, in the states and
// in the log; and makes sure that a changed one is noticed.
func TestCredentialsAreNeverPrinted(t *testing.T) {
	const password = "open-sesame"
	l := newLab(t)
	said := &bytes.Buffer{}
	l.Installer = newInstaller(Options{Log: slog.New(slog.NewJSONHandler(said, nil))}, l.shelf)
	t.Cleanup(l.Close)
	a := addon.Addon{Key: l.key("capi"), Version: "v1", Source: addon.Source{Kind: addon.Components}, Providers: []addon.Provider{{
		Kind: addon.InfrastructureProvider, Name: "nutanix", Platform: v1alpha1.ProviderNutanix, Credentials: &v1alpha1.SecretReference{Name: "login"},
		Variables: []addon.Variable{{Name: "NUTANIX_PASSWORD", Required: true}},
	}}}
	l.put(a.Key, a.Version, func() source.Content { return source.Content{} })
	states := l.awaitStates(a, password)
	record, err := l.client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(t.Context(), recordPrefix+a.Key, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	fetched := l.fetches()
	l.Close()
	document, err := json.Marshal([]any{states, record, said.String()})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(document), password) || !strings.Contains(said.String(), "addon is ready") {
		t.Errorf("a credential is logged, or nothing is: %s", document)
	}
	l.Installer = l.installer()
	l.awaitStates(a, password)
	if l.fetches() != fetched {
		t.Error("the same credentials count as other ones")
	}
	l.Close()
	l.Installer = l.installer()
	l.awaitStates(a, "closed-sesame")
	if l.fetches() == fetched {
		t.Error("other credentials are not noticed")
	}
}

// TestOtherCredentialsAreTakenUp while the installer continues.
func TestOtherCredentialsAreTakenUp(t *testing.T) {
	l := newLab(t)
	a := addon.Addon{
		Key: l.key("tea"), Version: "1", Source: addon.Source{Kind: addon.Objects}, Objects: []*unstructured.Unstructured{objectOf(
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: tea, namespace: " + l.namespace + "}}")},
		Secret: &addon.Secret{Namespace: l.namespace, Name: "login", Copy: []string{"NUTANIX_PASSWORD"}},
	}
	l.put(a.Key, a.Version, func() source.Content { return source.Content{} })
	l.awaitStates(a, "one")
	l.awaitStates(a, "two")
	s, err := l.client.CoreV1().Secrets(l.namespace).Get(t.Context(), "login", metav1.GetOptions{})
	if err != nil || string(s.Data["NUTANIX_PASSWORD"]) != "two" {
		t.Errorf("the Secret has %q, %v", s.Data, err)
	}
}

// awaitStates waits for an addon to be ready that has a password.
func (l *lab) awaitStates(a addon.Addon, password string) []State {
	l.Helper()
	target := l.target()
	target.Revision = password
	target.Credentials = func(*v1alpha1.SecretReference) (map[string][]byte, error) {
		return map[string][]byte{"NUTANIX_PASSWORD": []byte(password)}, nil
	}
	for {
		states := l.Advance(target, []addon.Addon{a})
		if states[0].Phase == v1alpha1.AddonReady {
			return states
		}
		if states[0].Phase == v1alpha1.AddonFailing {
			l.Fatalf("%+v", states)
		}
		select {
		case <-l.Context().Done():
			l.Fatalf("%+v", states)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func TestSecretIsMadeFromCredentials(t *testing.T) {
	credentials := map[string][]byte{"id": []byte("me"), "key": []byte("sesame"), "other": []byte("x")}
	for reason, c := range map[string]struct {
		secret addon.Secret
		want   map[string]string
		lacks  string
	}{
		"keys are taken over":       {secret: addon.Secret{Copy: []string{"id", "key", "token"}}, want: map[string]string{"id": "me", "key": "sesame"}},
		"none of the keys is there": {secret: addon.Secret{Copy: []string{"token"}}, lacks: "token"},
		"a document": {
			secret: addon.Secret{Key: "config", Fields: map[string]any{"cloud": "public"}, Fill: map[string]string{"login": "id"}},
			want:   map[string]string{"config": `{"cloud":"public","login":"me"}`},
		},
		"a profile without keys":        {secret: addon.Secret{Profile: "eu-central-1"}, lacks: "accessKeyID, secretAccessKey"},
		"a document that nothing fills": {secret: addon.Secret{Key: "config"}, want: map[string]string{"config": "{}"}},
		"a document that lacks fields":  {secret: addon.Secret{Key: "config", Fill: map[string]string{"a": "tenant", "b": "id", "c": "client"}}, lacks: "client, tenant"},
	} {
		t.Run(reason, func(t *testing.T) {
			c.secret.Namespace, c.secret.Name = "kube-system", "login"
			data, err := c.secret.Data(credentials)
			if c.lacks != "" {
				if err == nil || !strings.Contains(err.Error(), "lack "+c.lacks+", which Secret kube-system/login needs") || strings.Contains(err.Error(), "sesame") {
					t.Errorf("the error is %v", err)
				}
				return
			}
			if err != nil || len(data) != len(c.want) {
				t.Errorf("got %d keys, %v", len(data), err)
			}
			for k, v := range c.want {
				if string(data[k]) != v {
					t.Errorf("%s is %s", k, data[k])
				}
			}
		})
	}
}

func TestPausesDoubleUpToAMinute(t *testing.T) {
	for failures, want := range map[int]time.Duration{
		1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 6: 32 * time.Second, 7: time.Minute, 1000: time.Minute,
	} {
		if got := backOff(failures); got != want {
			t.Errorf("after %d failures: %s; want %s", failures, got, want)
		}
	}
}

func TestProbesSlowDownUntilSomethingMoves(t *testing.T) {
	p := newProbe()
	for range 10 {
		p.after("nothing")
	}
	if p.wait != lastProbe {
		t.Errorf("it waits %s", p.wait)
	}
	if p.after("something"); p.wait != firstProbe {
		t.Errorf("it waits %s after something has moved", p.wait)
	}
}

func TestTextIsTheSameFromOneTimeToTheNext(t *testing.T) {
	for said, want := range map[string]string{
		"one\n  two\n": "one; two",
		"read tcp 10.0.0.1:41234->10.0.0.2:443: reset": "read tcp 10.0.0.2:443: reset",
		`Error creating: pods "tea-7f-x" is forbidden`: "Error creating: a pod is forbidden",
		strings.Repeat("x", maxText+1):                 strings.Repeat("x", maxText) + "…",
	} {
		if got := tidy(said); got != want {
			t.Errorf("%q becomes %q; want %q", said, got, want)
		}
	}
}

func TestAPublishedVersionDoesNotChange(t *testing.T) {
	first := record{Version: "1.0.0", Origin: "https://charts.example.com", Digest: "sha256:1"}
	cases := map[string]struct {
		kind                    addon.SourceKind
		version, origin, digest string
		refused                 bool
	}{
		"the same":               {addon.ChartRepository, "1.0.0", first.Origin, "sha256:1", false},
		"other content":          {addon.ChartRepository, "1.0.0", first.Origin, "sha256:2", true},
		"other components":       {addon.Components, "1.0.0", first.Origin, "sha256:2", true},
		"another version":        {addon.ChartRepository, "1.0.1", first.Origin, "sha256:2", false},
		"another place":          {addon.ChartRepository, "1.0.0", "/srv/charts", "sha256:2", false},
		"carried in a new build": {addon.ChartCarried, "1.0.0", first.Origin, "sha256:2", false},
		"nothing was fetched":    {addon.Objects, "1.0.0", first.Origin, "", false},
	}
	for reason, c := range cases {
		t.Run(reason, func(t *testing.T) {
			a := addon.Addon{Key: "tea", Version: c.version, Source: addon.Source{Kind: c.kind}}
			err := first.checkUnchanged(a, source.Content{Origin: c.origin, Digest: c.digest})
			if (err != nil) != c.refused {
				t.Errorf("checkUnchanged = %v", err)
			}
		})
	}
}
