// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

// Package crashtest puts the reconciler of a request through many lives, from
// creation to deletion, and disturbs each in another place: the reconciler dies
// and loses its memory, it reads what is out of date, or it misses what happened.
// Time is artificial; the API server is real. Only tests use it.
package crashtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/controller/session"
)

// ConfigName is the ProviderConfig, of Harvester, that requests refer to.
const ConfigName = "config"

// Subject is a reconciler and the kind that it reconciles.
type Subject struct {
	// New returns a request that refers to ConfigName; the lab names it.
	New func() client.Object
	// Reconciler returns a reconciler without any memory.
	Reconciler func(client.Client, *session.Sessions, func() time.Time) Reconciler
	// Done reports whether a request has reached its aim, or cannot reach it.
	Done func(client.Object) bool
}

// Reconciler makes one pass over a request.
type Reconciler func(context.Context, client.Object) (reconcile.Result, error)

// Lab holds what many lives share.
type Lab struct {
	Behaviour
	// Unlocked lets writes succeed on outdated requests: the lab must notice.
	Unlocked bool
	// Blind lets copies come without a claim, and hides requests with the same owner
	// id from each other: the lab must notice.
	Blind bool
	// Until, if set, ends the exploration at the first violation with these words.
	Until string
	// Violations are sentences about what went wrong, with the way to it.
	Violations []string
	// Lives counts the lives so far, Points the places of death in them.
	Lives, Points int

	ctx     context.Context
	api     client.WithWatch
	ns      string
	subject Subject
	secret  *corev1.Secret
	config  *v1alpha1.ProviderConfig
}

// New prepares a namespace with Secret and ProviderConfig.
func New(tb testing.TB, config *rest.Config, s Subject, b Behaviour) *Lab {
	tb.Helper()
	l := &Lab{Behaviour: b, ctx: tb.Context(), subject: s}
	if err := l.prepare(config); err != nil {
		tb.Fatal(err)
	}
	return l
}

func (l *Lab) prepare(config *rest.Config) error {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			return err
		}
	}
	api, err := client.NewWithWatch(config, client.Options{Scheme: s})
	if err != nil {
		return err
	}
	l.api = api
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "lab-"}}
	if err := api.Create(l.ctx, ns); err != nil {
		return err
	}
	l.ns = ns.Name
	return l.configure()
}

func (l *Lab) configure() error {
	l.secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: l.ns, Name: "credentials"}}
	if err := l.api.Create(l.ctx, l.secret); err != nil {
		return err
	}
	l.config = &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: l.ns, Name: ConfigName}}
	l.config.Spec.Provider = v1alpha1.ProviderHarvester
	l.config.Spec.CredentialsRef = &v1alpha1.SecretReference{Name: l.secret.Name}
	l.config.Spec.Harvester = &v1alpha1.HarvesterSpec{NetworkName: "default/workloads"}
	return l.api.Create(l.ctx, l.config)
}

// Found reports whether a violation has the words of Until.
func (l *Lab) Found() bool {
	return l.Until != "" && slices.ContainsFunc(l.Violations, func(s string) bool { return strings.Contains(s, l.Until) })
}

// live runs one life and collects what went wrong in it. Once Until is found it is empty.
func (l *Lab) live(d disturbance) *life {
	f := newLife(l, d, fmt.Sprintf("life-%d", l.Lives+1))
	if l.Found() {
		return f
	}
	l.Lives++
	if err := f.run(); err != nil {
		f.points.violate("%v", err)
	}
	l.Points += f.points.passed
	for _, sentence := range f.points.wrong {
		l.Violations = append(l.Violations, d.String()+": "+sentence)
	}
	return f
}
