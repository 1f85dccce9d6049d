// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package launch

import (
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/bootstrap"
	"github.com/butlerdotdev/butler/internal/failure"
	"github.com/butlerdotdev/butler/internal/manifest"
	"github.com/butlerdotdev/butler/internal/operation"
)

// annotationAmbient has the source on this machine that the data of a Secret is from.
const annotationAmbient = v1alpha1.Group + "/ambient"

// chooseCredentials returns the credentials for the platform: those that the user has
// given, else those of the plane from an earlier run, else the ambient ones. A
// rehearsal uses the simulator's and reads none of these.
func (l *Launch) chooseCredentials(o *operation.Operation) (*corev1.Secret, error) {
	m, login := l.Manifest, l.Provider.Login
	key, referred := m.CredentialsKey()
	if !referred {
		return nil, nil
	}
	if o.Rehearsal {
		return o.SimulatorSecret(login, m.Provider)
	}
	if l.Secret != nil {
		return l.Secret, nil
	}
	known, err := knownSecret(o, key)
	if source, ok := known.Annotations[annotationAmbient]; err == nil && ok {
		return ambientSecret(m, key, known.Data, source)
	}
	if err == nil {
		return operation.NewSecret(m.Provider, known.Data), nil
	}
	if !apierrors.IsNotFound(err) {
		return nil, err
	}
	values, source, err := operation.AmbientCredentials(login, m.Provider)
	if err != nil {
		return nil, err
	}
	if r := o.Plane(); r.OfUser() {
		return nil, failure.Usagef("the ambient credentials (%s) are never copied to a cluster, and the plane is %s; pass a file with --credentials, or add the Secret %s to the manifest", source, r, key.Name)
	}
	l.Progress.Step("credentials: " + source)
	return ambientSecret(m, key, values, source)
}

// knownSecret returns the credentials of the plane; without a plane there are none.
func knownSecret(o *operation.Operation, key client.ObjectKey) (*corev1.Secret, error) {
	known := &corev1.Secret{}
	if o.Client() == nil {
		return known, apierrors.NewNotFound(corev1.Resource("secrets"), key.Name)
	}
	return known, o.Client().Get(o.Context(), key, known)
}

// ambientSecret returns a Secret with the ambient credentials for the local plane. It
// refuses to use them for a cluster that would get a copy: they belong to the user of
// this machine.
func ambientSecret(m *manifest.Manifest, key client.ObjectKey, values map[string][]byte, source string) (*corev1.Secret, error) {
	if bootstrap.HandsOver(m.Cluster.Spec) {
		return nil, failure.Usagef("the ambient credentials (%s) are never copied to a cluster, and the controllers of %s need credentials; pass a file with --credentials, add the Secret %s to the manifest, or set spec.addons.butlerController.enabled to false",
			source, m.Cluster.Spec.Cluster.Name, key.Name)
	}
	s := operation.NewSecret(m.Provider, values)
	metav1.SetMetaDataAnnotation(&s.ObjectMeta, annotationAmbient, source)
	return s, nil
}
