// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/butlerdotdev/butler/internal/addon"
)

// view is what was seen of an addon.
type view struct {
	obstacles []string
	gone      string // an object of its source that must be there, and is not
}

// String is the first obstacle, and how many more there are.
func (v view) String() string {
	text := tidy(v.obstacles[0])
	if more := len(v.obstacles) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

func (v *view) add(r addon.Ref, obstacle string) {
	if obstacle == "" {
		return
	}
	separator := ": "
	if obstacle == absent {
		separator = " "
	}
	v.obstacles = append(v.obstacles, refName(r)+separator+obstacle)
}

// look reads how an addon stands from its objects themselves. Watches only say
// when: what they have seen may be older than what was just applied.
func (w *worker) look(ctx context.Context, t task, r record) (v view, err error) {
	l := looker{connection: t.connection, ctx: ctx, interest: map[string]bool{}}
	defer func() { w.minds(l.interest) }()
	for _, ref := range r.Listed {
		if err := l.listed(&v, ref, slices.Contains(t.Ready.Workloads, ref)); err != nil || v.gone != "" {
			return v, err
		}
	}
	for _, step := range []func(*view, addon.Readiness) error{l.definitions, l.workloads, l.existence, l.webhooks} {
		if err := step(&v, t.Ready); err != nil {
			return v, err
		}
	}
	return v, nil
}

// mind has the worker nudged when one more object changes.
func (w *worker) mind(object string) {
	w.cluster.mu.Lock()
	defer w.cluster.mu.Unlock()
	next := map[string]bool{object: true}
	for o := range w.interest {
		next[o] = true
	}
	w.interest = next
}

// minds has the worker nudged when one of these objects changes.
func (w *worker) minds(objects map[string]bool) {
	w.cluster.mu.Lock()
	defer w.cluster.mu.Unlock()
	w.interest = objects
}

// looker looks at the objects of one addon and remembers which they were.
type looker struct {
	*connection
	ctx      context.Context
	interest map[string]bool
}

// attend watches an object. A kind that the cluster does not have
// has no such objects.
func (l *looker) attend(r addon.Ref) (schema.GroupVersionResource, bool, error) {
	group, err := schema.ParseGroupVersion(r.APIVersion)
	if err != nil {
		return schema.GroupVersionResource{}, false, err
	}
	resource, served, err := l.resource(group.WithKind(r.Kind))
	if err != nil || !served {
		return resource, false, err
	}
	l.watch(resource)
	l.interest[objectKey(resource, nameOf(r))] = true
	return resource, true, nil
}

func nameOf(r addon.Ref) types.NamespacedName {
	return types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
}

// listed looks at an object that the addon's source has brought. Jobs may be
// gone: some are deleted when they have ended. What its readiness names is
// looked at there.
func (l *looker) listed(v *view, r addon.Ref, named bool) error {
	if isWorkload(r) {
		if named {
			return l.present(v, r)
		}
		s, err := l.workload(r, false)
		switch {
		case err != nil:
			return err
		case s == absent && r.Kind != jobKind:
			v.gone = refName(r)
		case s != absent:
			v.add(r, s)
		}
		return nil
	}
	return l.present(v, r)
}

// present looks only whether an object is there.
func (l *looker) present(v *view, r addon.Ref) error {
	kind, served, err := l.attend(r)
	if err != nil {
		return err
	}
	there := false
	if served {
		if there, err = l.exists(l.ctx, kind, nameOf(r)); err != nil {
			return err
		}
	}
	if !there && r.Kind != jobKind {
		v.gone = refName(r)
	}
	return nil
}

func (l *looker) definitions(v *view, r addon.Readiness) error {
	for _, name := range r.CRDs {
		l.interest[objectKey(definitions, types.NamespacedName{Name: name})] = true
		obstacle, err := l.definition(l.ctx, name)
		if err != nil {
			return err
		}
		v.add(addon.Ref{Kind: definitionKind, Name: name}, obstacle)
	}
	return nil
}

func (l *looker) workloads(v *view, r addon.Readiness) error {
	for _, ref := range r.Workloads {
		obstacle, err := l.workload(ref, true)
		if err != nil {
			return err
		}
		v.add(ref, obstacle)
	}
	return nil
}

func (l *looker) existence(v *view, r addon.Readiness) error {
	for _, ref := range r.Exist {
		probe := view{}
		if err := l.present(&probe, ref); err != nil {
			return err
		}
		if probe.gone != "" {
			v.add(ref, absent)
		}
	}
	return nil
}

// workload is what keeps a workload from being ready, pods included.
func (l *looker) workload(r addon.Ref, must bool) (string, error) {
	if _, _, err := l.attend(r); err != nil {
		return "", err
	}
	s, err := l.standing(r, must)
	switch {
	case apierrors.IsNotFound(err):
		return absent, nil
	case err != nil || s.obstacle == "" || !s.pods:
		return s.obstacle, err
	}
	pods, err := l.pods(l.ctx, r.Namespace, s.selector)
	if err != nil {
		return "", err
	}
	return s.obstacle + because(cmp.Or(podsObstacle(pods), l.refused(l.ctx, r))), nil
}

func (l *looker) standing(r addon.Ref, must bool) (standing, error) {
	switch r.Kind {
	case deploymentKind:
		d, err := l.kubernetes.apps.Deployments(r.Namespace).Get(l.ctx, r.Name, metav1.GetOptions{})
		if err != nil {
			return standing{}, err
		}
		return ofDeployment(d), nil
	case daemonSetKind:
		d, err := l.kubernetes.apps.DaemonSets(r.Namespace).Get(l.ctx, r.Name, metav1.GetOptions{})
		if err != nil {
			return standing{}, err
		}
		return ofDaemonSet(d, must), nil
	case statefulSetKind:
		s, err := l.kubernetes.apps.StatefulSets(r.Namespace).Get(l.ctx, r.Name, metav1.GetOptions{})
		if err != nil {
			return standing{}, err
		}
		return ofStatefulSet(s), nil
	case jobKind:
		j, err := l.kubernetes.batch.Jobs(r.Namespace).Get(l.ctx, r.Name, metav1.GetOptions{})
		if err != nil {
			return standing{}, err
		}
		return ofJob(j), nil
	}
	return standing{}, fmt.Errorf("readiness of %s is not known", refName(r))
}

// pods are those that a workload selects.
func (c *connection) pods(ctx context.Context, namespace string, s *metav1.LabelSelector) ([]corev1.Pod, error) {
	list, err := c.kubernetes.core.Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(s)})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// refused returns why a workload's pods cannot be created. Only an event has it, so
// that it may be unknown.
func (c *connection) refused(ctx context.Context, r addon.Ref) string {
	about := fields.Set{"involvedObject.kind": r.Kind, "involvedObject.name": r.Name, "reason": "FailedCreate"}
	list, err := c.kubernetes.core.Events(r.Namespace).List(ctx, metav1.ListOptions{FieldSelector: about.String()})
	if err != nil || len(list.Items) == 0 {
		return ""
	}
	latest := slices.MaxFunc(list.Items, func(a, b corev1.Event) int { return seen(a).Compare(seen(b)) })
	return latest.Message
}

func seen(e corev1.Event) time.Time {
	if e.Series != nil {
		return e.Series.LastObservedTime.Time
	}
	if !e.LastTimestamp.IsZero() {
		return e.LastTimestamp.Time
	}
	return e.EventTime.Time
}
