// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"bytes"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/talos"
)

// later advances the clock, and has the cluster looked at.
func (f *fixture) later(tc *v1alpha1.TenantCluster, by time.Duration) {
	f.Helper()
	f.ahead.Add(int64(by))
	f.change(tc, func(tc *v1alpha1.TenantCluster) { tc.Annotations["example.com/look"] = f.now().String() })
}

// kept reads a Secret of the tenant namespace.
func (f *fixture) kept(tc *v1alpha1.TenantCluster, name string) *corev1.Secret {
	f.Helper()
	found := &corev1.Secret{}
	f.Must(f.Get(f.Context(), client.ObjectKey{Namespace: tc.Status.TenantNamespace, Name: name}, found))
	return found
}

// tokenIsRenewed sees a token replaced before it ends, and gone after that.
func (f *fixture) tokenIsRenewed(tc *v1alpha1.TenantCluster) {
	f.Helper()
	first := string(f.kept(tc, tokenOf(tc.Name)).Data["token-id"])
	f.later(tc, tokenTTL/2+time.Minute)
	f.Await(func() error {
		if now := f.kept(tc, tokenOf(tc.Name)); string(now.Data["token-id"]) == first {
			return fmt.Errorf("token %s is still used", first)
		}
		return nil
	})
	f.later(tc, tokenTTL/2+time.Minute)
	f.Await(func() error {
		if err := f.Get(f.Context(), client.ObjectKey{Namespace: kubeSystem, Name: tokenPrefix + first}, &corev1.Secret{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("token %s has ended and is there: %w", first, err)
		}
		return nil
	})
}

// talosconfigIsRenewed sees the certificate replaced at half of its time.
func (f *fixture) talosconfigIsRenewed(tc *v1alpha1.TenantCluster) {
	f.Helper()
	before := f.kept(tc, talosconfigOf(tc.Name)).Data["talosconfig"]
	is, err := talos.ReadTalosconfig(before)
	f.Must(err)
	if left := is.Expires.Sub(f.now()); left < talosconfigTTL/2 || left > talosconfigTTL {
		f.Errorf("the certificate is valid for %s", left)
	}
	f.later(tc, talosconfigTTL/2+time.Hour)
	f.Await(func() error {
		if now := f.kept(tc, talosconfigOf(tc.Name)).Data["talosconfig"]; bytes.Equal(now, before) {
			return fmt.Errorf("the talosconfig is not renewed")
		}
		return nil
	})
}
