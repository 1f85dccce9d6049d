// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// place is the path of an API server: a collection, or an object in it.
type place struct {
	collection      string // "apps/v1/deployments", "v1/nodes"
	namespace, name string
	part            string // subresource
}

// placeOf reads a path; false for paths that are no objects.
func placeOf(path string) (p place, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	prefix := 2 // api/v1
	if parts[0] == "apis" {
		prefix = 3
	}
	if parts[0] != "api" && parts[0] != "apis" || len(parts) <= prefix {
		return p, false
	}
	rest := parts[prefix:]
	if rest[0] == "namespaces" && len(rest) > 2 && rest[2] != "finalize" && rest[2] != "status" {
		p.namespace, rest = rest[1], rest[2:]
	}
	p.collection = strings.Join(append(slices.Clone(parts[1:prefix]), rest[0]), "/")
	if len(rest) > 1 {
		p.name = rest[1]
	}
	if len(rest) > 2 {
		p.part = rest[2]
	}
	return p, true
}

func (p place) key() string { return p.namespace + "/" + p.name }

// change is an event of a watch.
type change struct {
	kind   string
	object *unstructured.Unstructured
}

// store holds the objects of one tenant: what an API server does for clients, without
// validation, defaults and admission.
type store struct {
	mu       sync.Mutex
	version  int
	objects  map[string]map[string]*unstructured.Unstructured // by collection and key
	watchers map[string]map[chan change]bool                  // by collection
}

func newStore() *store {
	return &store{version: 1, objects: map[string]map[string]*unstructured.Unstructured{}, watchers: map[string]map[chan change]bool{}}
}

func (s *store) get(p place) *unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[p.collection][p.key()]
}

// put creates or replaces an object, and reports it.
func (s *store) put(p place, o *unstructured.Unstructured) *unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.objects[p.collection][p.key()]
	s.version++
	o.SetName(p.name)
	o.SetNamespace(p.namespace)
	o.SetResourceVersion(strconv.Itoa(s.version))
	o.SetUID(types.UID(strconv.Itoa(s.version)))
	generation, kind := int64(1), "ADDED"
	if before != nil {
		o.SetUID(before.GetUID())
		generation, kind = before.GetGeneration(), "MODIFIED"
		if specOf(o) != specOf(before) {
			generation++
		}
	}
	o.SetGeneration(generation)
	settleObject(o)
	if s.objects[p.collection] == nil {
		s.objects[p.collection] = map[string]*unstructured.Unstructured{}
	}
	s.objects[p.collection][p.key()] = o
	s.report(p.collection, change{kind, o})
	return o
}

func specOf(o *unstructured.Unstructured) string {
	data, _ := json.Marshal(o.Object["spec"])
	return string(data)
}

// settleObject is what controllers do at once: workloads are ready, definitions established.
func settleObject(o *unstructured.Unstructured) {
	n := o.GetGeneration()
	switch o.GetKind() {
	case "DaemonSet":
		o.Object["status"] = map[string]any{"observedGeneration": n, "desiredNumberScheduled": int64(1), "currentNumberScheduled": int64(1), "numberReady": int64(1), "numberAvailable": int64(1), "updatedNumberScheduled": int64(1), "numberMisscheduled": int64(0)}
	case "Deployment":
		replicas := cmp.Or(number(o, "spec", "replicas"), 1)
		_ = unstructured.SetNestedField(o.Object, replicas, "spec", "replicas")
		o.Object["status"] = map[string]any{
			"observedGeneration": n, "replicas": replicas, "updatedReplicas": replicas, "readyReplicas": replicas, "availableReplicas": replicas,
			"conditions": []any{map[string]any{"type": "Available", "status": "True"}},
		}
	case "CustomResourceDefinition":
		o.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}, map[string]any{"type": "NamesAccepted", "status": "True"}}}
	}
}

func (s *store) remove(p place) *unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[p.collection][p.key()]
	if o != nil {
		delete(s.objects[p.collection], p.key())
		s.version++
		s.report(p.collection, change{"DELETED", o})
	}
	return o
}

func (s *store) report(collection string, c change) {
	for w := range s.watchers[collection] {
		w <- c // there is room: see watch
	}
}

// list returns the objects of a collection that fit.
func (s *store) list(p place, fits func(*unstructured.Unstructured) bool) (out []*unstructured.Unstructured, version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listed(p, fits), strconv.Itoa(s.version)
}

func (s *store) listed(p place, fits func(*unstructured.Unstructured) bool) (out []*unstructured.Unstructured) {
	for _, key := range slices.Sorted(maps.Keys(s.objects[p.collection])) {
		if o := s.objects[p.collection][key]; (p.namespace == "" || o.GetNamespace() == p.namespace) && fits(o) {
			out = append(out, o)
		}
	}
	return out
}

// watch returns what is there, and what happens from then on.
func (s *store) watch(p place, fits func(*unstructured.Unstructured) bool) (now []*unstructured.Unstructured, version string, next chan change, end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next = make(chan change, 10_000)
	if s.watchers[p.collection] == nil {
		s.watchers[p.collection] = map[chan change]bool{}
	}
	s.watchers[p.collection][next] = true
	return s.listed(p, fits), strconv.Itoa(s.version), next, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers[p.collection], next)
	}
}

// filter is what the selectors of a request let through.
func filter(labelText, fieldText, name string) (func(*unstructured.Unstructured) bool, error) {
	byLabel, err := labels.Parse(labelText)
	if err != nil {
		return nil, err
	}
	byField, err := fields.ParseSelector(fieldText)
	if err != nil {
		return nil, err
	}
	return func(o *unstructured.Unstructured) bool {
		set := fields.Set{"metadata.name": o.GetName(), "metadata.namespace": o.GetNamespace(), "type": text(o, "type")}
		return (name == "" || o.GetName() == name) && byLabel.Matches(labels.Set(o.GetLabels())) && byField.Matches(set)
	}, nil
}

// merged puts one object over another, map by map.
func merged(below, over map[string]any) map[string]any {
	out := maps.Clone(below)
	if out == nil {
		out = map[string]any{}
	}
	for key, value := range over {
		inner, is := value.(map[string]any)
		base, has := out[key].(map[string]any)
		switch {
		case value == nil:
			delete(out, key)
		case is && has:
			out[key] = merged(base, inner)
		default:
			out[key] = value
		}
	}
	return out
}

// metadataOnly is what clients get that want no more.
func metadataOnly(o *unstructured.Unstructured) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{"metadata": o.Object["metadata"]}}
	out.SetAPIVersion(metav1.SchemeGroupVersion.String())
	out.SetKind("PartialObjectMetadata")
	return out
}
