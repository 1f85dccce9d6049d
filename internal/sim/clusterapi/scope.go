// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package clusterapi

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// scope is one pass over an infrastructure cluster, or a machine of it.
type scope struct {
	client.Client
	kind    kind
	cluster *unstructured.Unstructured // Cluster
	infra   *unstructured.Unstructured // infrastructure cluster
}

func (s *scope) field(path ...string) any {
	v, _, _ := unstructured.NestedFieldNoCopy(s.infra.Object, path...)
	return v
}

func (s *scope) text(path ...string) string {
	t, _ := s.field(path...).(string)
	return t
}

func textOf(o map[string]any, path ...string) string {
	t, _, _ := unstructured.NestedString(o, path...)
	return t
}

// numberOf accepts the two forms that JSON numbers are read as.
func numberOf(o map[string]any, path ...string) int64 {
	v, _, _ := unstructured.NestedFieldNoCopy(o, path...)
	switch n := v.(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	}
	return 0
}

func boolOf(o map[string]any, path ...string) bool {
	b, _, _ := unstructured.NestedBool(o, path...)
	return b
}

// secret returns the data of a Secret.
func (s *scope) secret(ctx context.Context, namespace, name string) (map[string][]byte, error) {
	secret := &corev1.Secret{}
	err := s.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret)
	return secret.Data, err
}

// ownedBy returns the owner of an object in the group of Cluster API itself, or nil.
func ownedBy(ctx context.Context, c client.Client, o client.Object, kind string) (*unstructured.Unstructured, error) {
	for _, ref := range o.GetOwnerReferences() {
		if ref.Kind == kind {
			return get(ctx, c, coreGroup+"/v1beta2", kind, o.GetNamespace(), ref.Name)
		}
	}
	return nil, nil
}

// get returns an object, or nil.
func get(ctx context.Context, c client.Client, apiVersion, kind, namespace, name string) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, u)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return u, err
}

func isPaused(cluster, object *unstructured.Unstructured) bool {
	paused, _, _ := unstructured.NestedBool(cluster.Object, "spec", "paused")
	_, annotated := object.GetAnnotations()[coreGroup+"/paused"]
	return paused || annotated
}

// setCondition sets a condition of contract v1beta1.
func setCondition(o *unstructured.Unstructured, s shown) {
	status := string(metav1.ConditionTrue)
	if !s.ok {
		status = string(metav1.ConditionFalse)
	}
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	next := map[string]any{"type": s.kind, "status": status, "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}
	for key, value := range map[string]string{"severity": s.severity, "reason": s.reason, "message": s.message} {
		if value != "" {
			next[key] = value
		}
	}
	for i, c := range all {
		old, _ := c.(map[string]any)
		if old["type"] != s.kind {
			continue
		}
		if old["status"] == status {
			next["lastTransitionTime"] = old["lastTransitionTime"]
		}
		all[i] = next
		_ = unstructured.SetNestedSlice(o.Object, all, "status", "conditions")
		return
	}
	_ = unstructured.SetNestedSlice(o.Object, append(all, next), "status", "conditions")
}
