// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
	"github.com/butlerdotdev/butler/internal/addon/source"
)

const (
	// fetchTimeout bounds one fetch; a slow one is reported much earlier.
	fetchTimeout = time.Minute
	slowFetch    = 3 * time.Second
	// levelManager owns the labels of namespaces that say what pods may do:
	// addons that share a namespace do not take them from each other.
	levelManager = manager + "-namespaces"
)

// levels are the labels of a namespace that name a level of the Pod Security
// Standards.
func levels(level addon.PodSecurity) map[string]string {
	const prefix = "pod-security.kubernetes.io/"
	return map[string]string{prefix + "enforce": string(level), prefix + "audit": string(level), prefix + "warn": string(level)}
}

// compare reads what the cluster has of the addon, and the mark of what is
// wanted. An addon that the cluster has gets its Secret again: the credentials
// may be other ones by now.
func (w *worker) compare(ctx context.Context, t task) (record, string, error) {
	if bare(t.Addon) {
		return record{}, "", nil
	}
	r, err := t.recorded(ctx, t.Key)
	if err != nil {
		return r, "", w.at(preparing, err)
	}
	mark, err := w.mark(ctx, t)
	if err == nil && r.Mark == mark {
		err = t.provide(ctx)
	}
	return r, mark, w.at(preparing, err)
}

// bare reports whether an addon is installed elsewhere: only its readiness counts.
func bare(a addon.Addon) bool { return a.Source.Kind == addon.Objects && len(a.Objects) == 0 }

// mark identifies the content of this addon. Charts of this project count with
// their content: builds of one version may differ.
func (w *worker) mark(ctx context.Context, t task) (string, error) {
	var more []string
	if t.Source.Kind == addon.ChartCarried {
		content, err := w.cluster.installer.source.Fetch(ctx, t.Addon, nil)
		if err != nil {
			return "", err
		}
		more = append(more, content.Digest)
	}
	values, err := t.variables()
	if err != nil {
		return "", err
	}
	if len(values) > 0 {
		keyed, err := t.keyed(ctx, values)
		if err != nil {
			return "", err
		}
		more = append(more, keyed)
	}
	return addonMark(t.Addon, more...)
}

// bring prepares the addon and fetches it, also while it still waits for others:
// what cannot be had is known early, and then nothing is left to wait for.
func (w *worker) bring(ctx context.Context, t task) (source.Content, error) {
	ahead := w.waits(t)
	if !ahead {
		w.reach(preparing, "is being prepared")
	}
	if err := t.prepare(ctx); err != nil {
		return source.Content{}, w.at(preparing, err)
	}
	if !ahead {
		w.reach(fetching, "is being fetched")
	}
	content, err := w.fetch(ctx, t, ahead)
	return content, w.at(fetching, err)
}

// install applies the addon and writes the record of it.
func (w *worker) install(ctx context.Context, t task, content source.Content, mark string) (record, error) {
	w.reach(applying, "is being applied")
	listed, err := w.apply(ctx, t, content)
	if err != nil {
		return record{}, w.at(applying, err)
	}
	r := record{Version: t.Version, Origin: content.Origin, Digest: content.Digest, Mark: mark, Listed: listed}
	return r, w.at(applying, t.keepRecord(ctx, t.Key, r))
}

// prepare creates the namespaces and the Secret that the addon expects.
func (t task) prepare(ctx context.Context) error {
	for _, n := range append([]addon.Namespace{t.Namespace}, t.Beside...) {
		if err := t.makeNamespace(ctx, n); err != nil {
			return err
		}
	}
	return t.provide(ctx)
}

func (t task) makeNamespace(ctx context.Context, n addon.Namespace) error {
	switch {
	case n.Name == "":
		return nil
	case n.PodSecurity == "":
		return t.makeMissing(ctx, n.Name)
	}
	space := applycorev1.Namespace(n.Name).WithLabels(levels(n.PodSecurity))
	options := metav1.ApplyOptions{FieldManager: levelManager, Force: true}
	if _, err := t.kubernetes.core.Namespaces().Apply(ctx, space, options); err != nil {
		return fmt.Errorf("create namespace %s: %w", n.Name, err)
	}
	return nil
}

// makeMissing leaves a namespace as it is, if it is there.
func (t task) makeMissing(ctx context.Context, name string) error {
	_, err := t.kubernetes.core.Namespaces().Get(ctx, name, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return err
	}
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err = t.kubernetes.core.Namespaces().Create(ctx, space, metav1.CreateOptions{FieldManager: manager})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create namespace %s: %w", name, err)
	}
	return nil
}

func (w *worker) fetch(ctx context.Context, t task, ahead bool) (source.Content, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, fetchTimeout, fmt.Errorf("it has not arrived within %s", fetchTimeout))
	defer cancel()
	quiet := ahead || w.failedAt >= fetching // others are waited for, or the last cause stays visible
	slow := time.AfterFunc(slowFetch, func() {
		if quiet {
			return
		}
		w.set(v1alpha1.AddonInstalling, "is still being fetched: "+origin(t.Addon)+" is slow or does not answer; another source can be named with --charts")
	})
	defer slow.Stop()
	content, err := w.cluster.installer.source.Fetch(ctx, t.Addon, t.variablesOf)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = fmt.Errorf("%w (%w)", err, cause)
	}
	return content, err
}

// origin is where an addon comes from by default, for people.
func origin(a addon.Addon) string {
	switch {
	case a.Source.Kind == addon.Components:
		return "github.com"
	case a.Source.URL == "":
		return "its source"
	}
	return a.Source.URL
}

// apply brings the content of an addon to the cluster and lists what must be
// there from now on.
func (w *worker) apply(ctx context.Context, t task, content source.Content) ([]addon.Ref, error) {
	if content.Chart != nil {
		return w.release(ctx, t, content.Chart)
	}
	objects := content.Objects
	if t.Source.Kind == addon.Objects {
		objects = t.Objects
	}
	if err := t.applyAll(ctx, objects, t.Namespace.Name); err != nil {
		return nil, err
	}
	return listed(t.Addon, objects), nil
}

// follow applies the objects that had to wait for those of the source.
func (w *worker) follow(ctx context.Context, t task, r *record) error {
	w.reach(following, "its own objects are ready, and what follows them is applied")
	if err := t.applyAll(ctx, t.Objects, t.Namespace.Name); err != nil {
		return w.at(following, err)
	}
	next := *r
	next.Objects = objectsMark(t.Addon)
	if err := t.keepRecord(ctx, t.Key, next); err != nil {
		return w.at(following, err)
	}
	*r = next
	return nil
}
