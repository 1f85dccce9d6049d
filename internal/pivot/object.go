// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package pivot

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// transfer transforms objects from one plane to another.
type transfer struct {
	// uids are those of To by those of From.
	uids map[types.UID]types.UID
	// fence and plane are annotations of the ClusterBootstrap.
	fence, plane string
}

// wanted returns the object that To must have, except its status; live is the current
// one, if any. A shared object keeps To's own additions.
func (t transfer) wanted(from, live *unstructured.Unstructured) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{}}
	for field, v := range from.Object {
		if field != "metadata" && field != "status" {
			out.Object[field] = runtime.DeepCopyJSONValue(v)
		}
	}
	out.SetNamespace(from.GetNamespace())
	out.SetName(from.GetName())
	out.SetLabels(from.GetLabels())
	out.SetAnnotations(t.annotations(from))
	out.SetFinalizers(from.GetFinalizers())
	out.SetOwnerReferences(t.owners(from))
	if live == nil {
		return out
	}
	out.SetUID(live.GetUID())
	out.SetResourceVersion(live.GetResourceVersion())
	if claims(from) {
		claim(out)
	}
	if shared(from) {
		keepOwn(out, from, live)
	}
	return out
}

// claims reports whether an object has claimed its owner id for itself. A copy of
// such an object has not, and does not do so by moving either.
func claims(o *unstructured.Unstructured) bool {
	return o.GetAnnotations()[v1alpha1.AnnotationClaimedBy] == string(o.GetUID())
}

// claim claims the owner id on To, where the request has another UID.
func claim(out *unstructured.Unstructured) {
	annotations := out.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[v1alpha1.AnnotationClaimedBy] = string(out.GetUID())
	out.SetAnnotations(annotations)
}

func (t transfer) annotations(from *unstructured.Unstructured) map[string]string {
	out := maps.Clone(from.GetAnnotations())
	if claims(from) {
		delete(out, v1alpha1.AnnotationClaimedBy)
	}
	if from.GetKind() != bootstrapKind {
		return out
	}
	if out == nil {
		out = map[string]string{}
	}
	out[v1alpha1.AnnotationFenced], out[v1alpha1.AnnotationPlane] = t.fence, t.plane
	return out
}

// owners have the UIDs of To. An owner of a shared object on From only, such as an
// operator that writes credentials, does not own the copy.
func (t transfer) owners(from *unstructured.Unstructured) (out []metav1.OwnerReference) {
	for _, o := range from.GetOwnerReferences() {
		if uid, ok := t.uids[o.UID]; ok {
			o.UID = uid
			out = append(out, o)
		}
	}
	return out
}

// keepOwn adds To's own additions to a shared object. The finalizer of
// a ProviderConfig follows the requests that refer to it, on each plane by itself.
func keepOwn(out, from, live *unstructured.Unstructured) {
	out.SetLabels(merged(live.GetLabels(), from.GetLabels()))
	out.SetAnnotations(merged(live.GetAnnotations(), from.GetAnnotations()))
	owners := out.GetOwnerReferences()
	for _, o := range live.GetOwnerReferences() {
		if !slices.ContainsFunc(owners, func(known metav1.OwnerReference) bool { return known.UID == o.UID }) {
			owners = append(owners, o)
		}
	}
	out.SetOwnerReferences(owners)
	finalizers := live.GetFinalizers()
	for _, f := range from.GetFinalizers() {
		if f != v1alpha1.FinalizerProviderConfig && !slices.Contains(finalizers, f) {
			finalizers = append(finalizers, f)
		}
	}
	out.SetFinalizers(finalizers)
}

func merged(under, over map[string]string) map[string]string {
	if under == nil {
		return over
	}
	maps.Copy(under, over)
	return under
}

// status returns the status that To must have, for an object of the given generation
// there. Generations start again: a status for the current one stays so, any other is
// for none.
func status(from *unstructured.Unstructured, generation int64) map[string]any {
	s, ok := from.Object["status"].(map[string]any)
	if !ok {
		return nil
	}
	out := runtime.DeepCopyJSON(s)
	observe := func(m map[string]any) {
		if seen, ok := m["observedGeneration"].(int64); ok {
			m["observedGeneration"] = int64(0)
			if seen == from.GetGeneration() {
				m["observedGeneration"] = generation
			}
		}
	}
	observe(out)
	conditions, _ := out["conditions"].([]any)
	for _, c := range conditions {
		if m, ok := c.(map[string]any); ok {
			observe(m)
		}
	}
	return out
}

// managers returns the field managers. Server-side apply needs them to distinguish a
// field that is no longer applied from one of another manager.
func (t transfer) managers(from *unstructured.Unstructured) []any {
	all, _, _ := unstructured.NestedSlice(from.Object, "metadata", "managedFields")
	for _, entry := range all {
		if m, ok := entry.(map[string]any); ok {
			m["fieldsV1"] = t.renamed(m["fieldsV1"])
		}
	}
	return all
}

// claimer returns the manager that has written the claim by an update, empty if none has.
func claimer(managers []any) string {
	for _, entry := range managers {
		m, ok := entry.(map[string]any)
		if !ok || m["operation"] != string(metav1.ManagedFieldsOperationUpdate) || m["subresource"] != nil {
			continue
		}
		if _, claimed, _ := unstructured.NestedFieldNoCopy(m, "fieldsV1", "f:metadata", "f:annotations", "f:"+v1alpha1.AnnotationClaimedBy); claimed {
			name, _ := m["manager"].(string)
			return name
		}
	}
	return ""
}

// renamed has the fields of owner references, which are known by UID, follow.
func (t transfer) renamed(fields any) any {
	m, ok := fields.(map[string]any)
	if !ok {
		return fields
	}
	out := make(map[string]any, len(m))
	for key, v := range m {
		if uid, ok := strings.CutPrefix(key, `k:{"uid":"`); ok {
			uid = strings.TrimSuffix(uid, `"}`)
			if to, moved := t.uids[types.UID(uid)]; moved {
				key = strings.Replace(key, uid, string(to), 1)
			}
		}
		out[key] = t.renamed(v)
	}
	return out
}

// timeless are managers without the time of their last write, by name and way.
// With appliedOnly those are left out that did not apply: on a shared object they
// are To's own.
func timeless(managers []any, appliedOnly bool) map[string]any {
	out := map[string]any{}
	for _, entry := range managers {
		m, ok := entry.(map[string]any)
		if !ok || appliedOnly && m["operation"] != string(metav1.ManagedFieldsOperationApply) {
			continue
		}
		out[fmt.Sprintf("%v/%v/%v/%v", m["manager"], m["operation"], m["subresource"], m["apiVersion"])] = m["fieldsV1"]
	}
	return out
}

// content is all of an object that To must have as wanted, but for the status.
func content(o *unstructured.Unstructured) map[string]any {
	out := map[string]any{}
	for field, v := range o.Object {
		if field != "metadata" && field != "status" {
			out[field] = v
		}
	}
	metadata := map[string]any{}
	all, _ := o.Object["metadata"].(map[string]any)
	for _, field := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
		if v := reflect.ValueOf(all[field]); v.IsValid() && v.Len() > 0 {
			metadata[field] = all[field]
		}
	}
	out["metadata"] = metadata
	return out
}

func sameContent(a, b *unstructured.Unstructured) bool {
	return reflect.DeepEqual(content(a), content(b))
}

// unequal are the fields in which To differs from what is wanted of it: names of
// fields only, never what they hold.
func (t transfer) unequal(from, live *unstructured.Unstructured) []string {
	out := differing("", content(t.wanted(from, live)), content(live))
	if shared(from) {
		return out
	}
	have, _ := live.Object["status"].(map[string]any)
	out = append(out, differing("status", orEmpty(status(from, live.GetGeneration())), orEmpty(have))...)
	if from.GetDeletionTimestamp().IsZero() != live.GetDeletionTimestamp().IsZero() {
		out = append(out, "metadata.deletionTimestamp")
	}
	there, _, _ := unstructured.NestedSlice(live.Object, "metadata", "managedFields")
	if !reflect.DeepEqual(timeless(t.managers(from), false), timeless(there, false)) {
		out = append(out, "metadata.managedFields")
	}
	return out
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// differing are the paths at which two values are not the same.
func differing(path string, a, b any) []string {
	left, ok := a.(map[string]any)
	right, also := b.(map[string]any)
	if !ok || !also {
		if reflect.DeepEqual(a, b) {
			return nil
		}
		return []string{path}
	}
	fields := map[string]bool{}
	for f := range left {
		fields[f] = true
	}
	for f := range right {
		fields[f] = true
	}
	var out []string
	for _, f := range slices.Sorted(maps.Keys(fields)) {
		out = append(out, differing(strings.TrimPrefix(path+"."+f, "."), left[f], right[f])...)
	}
	return out
}
