// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"context"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/butlerdotdev/butler/config/admission"
	"github.com/butlerdotdev/butler/config/crd"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/plane"
)

// managedBy marks kinds and policies that were created for a plane, and that a later
// version may update. All others are the user's.
const managedBy, ours = "app.kubernetes.io/managed-by", "butleradm"

// ensureKinds creates the kinds and policies that a plane lacks, and updates its own.
func ensureKinds(ctx context.Context, config *rest.Config) error {
	all, err := crd.All()
	if err != nil {
		return err
	}
	api, err := clientset.NewForConfig(config)
	if err != nil {
		return err
	}
	var due []*apiextensionsv1.CustomResourceDefinition
	for _, d := range all {
		found, err := api.ApiextensionsV1().CustomResourceDefinitions().Get(ctx, d.Name, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		if isDue, err := dueKind(d, found, apierrors.IsNotFound(err)); err != nil {
			return err
		} else if isDue {
			due = append(due, d)
		}
	}
	if err := plane.Define(ctx, config, due); err != nil {
		return err
	}
	return admission.ApplyOwn(ctx, config, managedBy, ours)
}

// dueKind reports whether a kind has to be created or updated. One of the user's must be
// as this version needs it: an older one would drop fields without a word.
func dueKind(want, found *apiextensionsv1.CustomResourceDefinition, missing bool) (bool, error) {
	metav1.SetMetaDataLabel(&want.ObjectMeta, managedBy, ours)
	switch {
	case missing:
		return true, nil
	case serves(found, want):
		return false, nil
	case found.Labels[managedBy] == ours:
		return true, nil
	}
	return false, failure.Usagef("CustomResourceDefinition %s of the plane is of another version than this program; install the chart butler-crds of this version there, or use another plane", want.Name)
}

// serves reports whether a definition has all versions of another, field by field.
func serves(found, want *apiextensionsv1.CustomResourceDefinition) bool {
	for _, v := range want.Spec.Versions {
		same := func(other apiextensionsv1.CustomResourceDefinitionVersion) bool {
			return other.Name == v.Name && other.Served && other.Storage == v.Storage && equality.Semantic.DeepEqual(other.Schema, v.Schema)
		}
		if !slices.ContainsFunc(found.Spec.Versions, same) {
			return false
		}
	}
	return true
}

// String names a namespace for people.
func (o Options) String() string { return fmt.Sprintf("namespace %s of the plane", o.Namespace) }
