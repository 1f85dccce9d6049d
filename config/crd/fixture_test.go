// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package crd_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/butlerdotdev/butler/internal/plane"
	"github.com/butlerdotdev/butler/internal/plane/planetest"
)

var api *rest.Config

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(planetest.Run(m, plane.Options{AdmissionOff: []string{"ServiceAccount"}}, func(p *plane.Plane) {
		api = p.Config()
	}))
}

// fixture is a namespace on the API server, through a client that refuses unknown
// fields as kubectl does.
type fixture struct {
	*testing.T
	client.Client
	namespace string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	c, err := client.New(api, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := &fixture{T: t, Client: client.WithFieldValidation(c, metav1.FieldValidationStrict)}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := c.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	w.namespace = namespace.Name
	return w
}

// try has the API server judge a manifest without keeping it.
func (w *fixture) try(o *unstructured.Unstructured) error {
	o = o.DeepCopy()
	o.SetNamespace(w.namespace)
	return w.Create(w.Context(), o, client.DryRunAll)
}

// apply creates an object together with its status.
func (w *fixture) apply(o *unstructured.Unstructured) *unstructured.Unstructured {
	w.Helper()
	created := o.DeepCopy()
	if created.SetNamespace(w.namespace); slices.Contains([]string{"ButlerConfig", "AddressClaim", "Team"}, created.GetKind()) {
		created.SetNamespace("")
	}
	if err := w.Create(w.Context(), created); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		// The context of a test has ended by now.
		if err := w.Delete(context.Background(), created); err != nil {
			w.Error(err)
		}
	})
	if status, ok := o.Object["status"]; ok {
		created.Object["status"] = status
		if err := w.Status().Update(w.Context(), created); err != nil {
			w.Fatal(err)
		}
	}
	return created
}

// read returns the manifests of a file below testdata.
func read(t *testing.T, file string) (all []*unstructured.Unstructured) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	for doc := range bytes.SplitSeq(data, []byte("\n---\n")) {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(doc, &o.Object); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, o)
	}
	return all
}

// files lists the manifests of a folder below testdata.
func files(t *testing.T, folder string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("testdata", folder, "*.yaml"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no manifests in %s: %v", folder, err)
	}
	for i, f := range found {
		found[i] = filepath.Join(folder, filepath.Base(f))
	}
	return found
}

// causes are the reasons for which the API server refuses an object, without
// the note that it looked no further.
func causes(t *testing.T, err error) (all []string) {
	t.Helper()
	status := (*apierrors.StatusError)(nil)
	if !errors.As(err, &status) || !apierrors.IsInvalid(err) {
		t.Fatalf("not refused as invalid: %v", err)
	}
	for _, c := range status.ErrStatus.Details.Causes {
		if !strings.Contains(c.Message, "some validation rules were not checked") {
			all = append(all, c.Field+": "+c.Message)
		}
	}
	return all
}
