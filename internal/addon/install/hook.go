// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"errors"
	"fmt"
	"time"

	helmkube "helm.sh/helm/v4/pkg/kube"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/addon"
)

const (
	goneTimeout = 30 * time.Second
	goneProbe   = 50 * time.Millisecond
)

// hookWaiter waits for the Jobs and Pods of a chart's hooks, and meanwhile reports
// what blocks them.
type hookWaiter struct {
	ctx    context.Context
	worker *worker
	task   task
}

// hookState is the state of a hook.
type hookState struct {
	done     bool
	failed   bool // for good
	failing  bool // and is tried again by Kubernetes itself
	obstacle string
}

// WatchUntilReady implements kube.Waiter.
func (h hookWaiter) WatchUntilReady(resources helmkube.ResourceList, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(h.ctx, timeout)
	defer cancel()
	for _, i := range resources {
		kind := i.Mapping.GroupVersionKind.Kind
		if kind != jobKind && kind != podKind {
			continue
		}
		if err := h.await(ctx, i, timeout); err != nil {
			return err
		}
	}
	return nil
}

func (h hookWaiter) await(ctx context.Context, i *resource.Info, timeout time.Duration) error {
	ref := addon.Ref{Kind: i.Mapping.GroupVersionKind.Kind, Namespace: i.Namespace, Name: i.Name}
	h.task.watch(i.Mapping.Resource)
	h.worker.mind(objectKey(i.Mapping.Resource, nameOf(ref)))
	probe := newProbe()
	for {
		s, err := h.look(ctx, ref)
		switch {
		case ctx.Err() != nil && h.ctx.Err() == nil:
			return hookError{fmt.Errorf("hook %s has not ended within %s%s", refName(ref), timeout, because(s.obstacle))}
		case ctx.Err() != nil:
			return ctx.Err()
		case h.worker.outdated(h.task):
			return fmt.Errorf("hook %s is not waited for: the addon has been changed", refName(ref))
		case err != nil:
			s.obstacle = err.Error() // it is asked again
		case s.done:
			return nil
		case s.failed:
			return hookError{fmt.Errorf("hook %s has failed%s", refName(ref), because(s.obstacle))}
		}
		h.report(ref, s)
		probe.after(s.obstacle)
		probe.await(ctx, h.worker.wake)
	}
}

// report reports what blocks a hook. One that fails and is retried may take
// minutes to fail for good.
func (h hookWaiter) report(ref addon.Ref, s hookState) {
	how := " has not ended"
	if s.failing {
		how = " fails and is retried"
	}
	message := tidy("hook " + refName(ref) + how + because(s.obstacle))
	if s.failing {
		h.worker.failedAt = applying
		h.worker.setFailing(v1alpha1.AddonHookFailed, message)
		return
	}
	h.worker.reach(applying, message)
}

func (h hookWaiter) look(ctx context.Context, ref addon.Ref) (hookState, error) {
	if ref.Kind == podKind {
		p, err := h.task.kubernetes.core.Pods(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		if err != nil {
			return hookState{failed: apierrors.IsNotFound(err), obstacle: absent}, notFoundIsNews(err)
		}
		return podHook(p), nil
	}
	j, err := h.task.kubernetes.batch.Jobs(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return hookState{failed: apierrors.IsNotFound(err), obstacle: absent}, notFoundIsNews(err)
	}
	s := jobHook(j)
	if !s.done {
		pods, err := h.task.pods(ctx, j.Namespace, j.Spec.Selector)
		if err != nil {
			return s, err
		}
		if why := podsObstacle(pods); why != "" {
			s.obstacle = why
		} else if s.obstacle == "" {
			s.obstacle = h.task.refused(ctx, ref)
		}
	}
	return s, nil
}

// notFoundIsNews leaves only errors that say nothing about the object.
func notFoundIsNews(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func podHook(p *corev1.Pod) hookState {
	s := hookState{done: p.Status.Phase == corev1.PodSucceeded, failed: p.Status.Phase == corev1.PodFailed}
	if !s.done {
		s.obstacle = podsObstacle([]corev1.Pod{*p})
	}
	return s
}

func jobHook(j *batchv1.Job) hookState {
	s := hookState{failing: j.Status.Failed > 0}
	for _, c := range j.Status.Conditions {
		if c.Status != corev1.ConditionTrue {
			continue
		}
		switch c.Type {
		case batchv1.JobComplete:
			s.done = true
		case batchv1.JobFailed:
			s.failed, s.obstacle = true, c.Message
		default:
		}
	}
	return s
}

// awaitGone returns when objects that were deleted are gone.
func (h hookWaiter) awaitGone(resources helmkube.ResourceList) error {
	for _, i := range resources {
		err := wait.PollUntilContextTimeout(h.ctx, goneProbe, goneTimeout, true, func(context.Context) (bool, error) {
			_, err := resource.NewHelper(i.Client, i.Mapping).Get(i.Namespace, i.Name)
			return apierrors.IsNotFound(err), notFoundIsNews(err)
		})
		if errors.Is(err, context.DeadlineExceeded) {
			err = errors.New("its deletion does not complete")
		}
		if err != nil {
			return fmt.Errorf("delete the old object of hook %s: %w", refName(addon.Ref{
				Kind: i.Mapping.GroupVersionKind.Kind, Namespace: i.Namespace, Name: i.Name,
			}), err)
		}
	}
	return nil
}
