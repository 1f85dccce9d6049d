// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package tenantcluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

const labWorkers = 2

// lab leads tenants through their life (create, upgrade, delete) with a controller that is
// killed and started again, and checks all the time what must always hold.
type lab struct {
	*fixture
	crowd *crowd
	gate  *gate
	names []string

	mu         sync.Mutex
	violations []string
	ids        map[string]string // of tenants, as first seen
}

func newLab(t testing.TB, tenants int) *lab {
	t.Helper()
	l := &lab{fixture: prepare(t), gate: newGate(), ids: map[string]string{}}
	l.between = l.gate
	l.crowd = playMany(l.fixture)
	l.crowd.servers.between = l.gate
	for i := range tenants {
		l.names = append(l.names, fmt.Sprintf("%s-%d", l.Namespace, i))
	}
	return l
}

// live runs controllers, one after the other, and the checks, until the returned function is
// called.
func (l *lab) live() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() {
		for ctx.Err() == nil {
			end := l.start()
			select {
			case <-ctx.Done():
			case <-l.gate.died:
			}
			end()
			l.gate.next()
		}
	})
	ended.Go(func() {
		for ctx.Err() == nil {
			l.check(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(30 * time.Millisecond):
			}
		}
	})
	return func() {
		cancel()
		ended.Wait()
	}
}

// lead leads all tenants through their life.
func (l *lab) lead() {
	l.Helper()
	defer l.live()()
	l.gate.begin("create")
	for _, name := range l.names {
		tc := l.tenant()
		tc.Name, tc.Spec.Workers.Replicas = name, labWorkers
		l.Must(l.Create(l.Context(), tc))
	}
	l.untilAll("Ready", isReady)
	l.gate.begin("upgrade")
	for _, name := range l.names {
		l.change(l.named(name), func(tc *v1alpha1.TenantCluster) { tc.Spec.KubernetesVersion = "v1.32.0" })
	}
	l.untilAll("upgraded", func(tc *v1alpha1.TenantCluster) bool {
		return isReady(tc) && tc.Status.ObservedState.KubernetesVersion == "v1.32.0"
	})
	l.gate.begin("delete")
	for _, name := range l.names {
		l.Must(l.Delete(l.Context(), l.named(name)))
	}
	l.untilGone()
	l.atTheEnd()
}

func (l *lab) named(name string) *v1alpha1.TenantCluster {
	tc := l.tenant()
	tc.Name = name
	return tc
}

// untilAll waits until all tenants are as wanted.
func (l *lab) untilAll(what string, is func(*v1alpha1.TenantCluster) bool) {
	l.Helper()
	l.await(what, func() (left []string) {
		for _, name := range l.names {
			tc := l.named(name)
			if err := l.Get(l.Context(), client.ObjectKeyFromObject(tc), tc); err != nil || !is(tc) {
				left = append(left, fmt.Sprintf("%s is %s: %v %v", name, tc.Status.Phase, conditionsOf(tc), err))
			}
		}
		return left
	})
}

func (l *lab) untilGone() {
	l.Helper()
	l.await("gone", func() (left []string) {
		for _, name := range l.names {
			tc := l.named(name)
			if err := l.Get(l.Context(), client.ObjectKeyFromObject(tc), tc); !apierrors.IsNotFound(err) {
				left = append(left, fmt.Sprintf("%s is %s: %s %v", name, tc.Status.Phase, readyCondition(tc).Message, err))
			}
		}
		return left
	})
}

func (l *lab) await(what string, left func() []string) {
	l.Helper()
	for deadline := time.Now().Add(4 * time.Minute); ; {
		remaining := left()
		if len(remaining) == 0 || l.wrong() {
			return
		}
		if time.Now().After(deadline) {
			l.report()
			l.Fatalf("not %s: %v", what, remaining)
		}
		select {
		case <-l.Context().Done():
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (l *lab) violate(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if sentence := fmt.Sprintf(format, args...); !slices.Contains(l.violations, sentence) {
		l.violations = append(l.violations, sentence)
	}
}

func (l *lab) wrong() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.violations) > 0
}

// check checks what always holds.
func (l *lab) check(ctx context.Context) {
	machines := l.crowd.all(ctx, machineKind) // first: what they belong to existed before them
	var spaces corev1.NamespaceList
	var tenants v1alpha1.TenantClusterList
	if errors.Join(l.List(ctx, &spaces, client.HasLabels{v1alpha1.LabelSourceName}), l.List(ctx, &tenants)) != nil {
		return
	}
	of := map[string]string{} // tenants by namespace
	for _, name := range l.names {
		if found := l.spacesOf(spaces.Items, name); len(found) > 1 {
			l.violate("%s has %d namespaces", name, len(found))
		} else if len(found) == 1 {
			of[found[0].Name] = name
			l.one(name, found[0].Annotations[v1alpha1.AnnotationClusterID])
		}
	}
	exist := map[string]bool{}
	for i := range tenants.Items {
		exist[tenants.Items[i].Name] = true
		if id := tenants.Items[i].Annotations[v1alpha1.AnnotationClusterID]; id != "" {
			l.one(tenants.Items[i].Name, id)
		}
	}
	for i := range machines {
		if owner := of[machines[i].GetNamespace()]; owner != "" && !exist[owner] {
			l.violate("machine %s has no TenantCluster", machines[i].GetName())
		}
		l.hasCredentials(ctx, &machines[i])
	}
}

func (l *lab) spacesOf(all []corev1.Namespace, tenant string) (out []corev1.Namespace) {
	for _, n := range all {
		if n.Labels[v1alpha1.LabelSourceName] == tenant {
			out = append(out, n)
		}
	}
	return out
}

// one checks that a tenant has one id for ever.
func (l *lab) one(tenant, id string) {
	if !slices.Contains(l.names, tenant) {
		return
	}
	l.mu.Lock()
	first := l.ids[tenant]
	if first == "" {
		l.ids[tenant] = id
	}
	l.mu.Unlock()
	if first != "" && first != id {
		l.violate("%s has the ids %s and %s", tenant, first, id)
	}
}

// idOf is the id that a tenant had first.
func (l *lab) idOf(tenant string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ids[tenant]
}

// hasCredentials checks that the provider can delete a machine as long as there is one.
func (l *lab) hasCredentials(ctx context.Context, m *unstructured.Unstructured) {
	key := client.ObjectKey{Namespace: m.GetNamespace(), Name: text(m, "spec", "clusterName") + "-credentials"}
	if !apierrors.IsNotFound(l.Get(ctx, key, &corev1.Secret{})) {
		return
	}
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(machineKind)
	if l.Get(ctx, client.ObjectKeyFromObject(m), live) == nil {
		l.violate("machine %s is there and the credentials that it is deleted with are not", m.GetName())
	}
}

// atTheEnd checks what is left, and which workers there were: restarts replace none.
func (l *lab) atTheEnd() {
	if l.wrong() {
		return
	}
	var spaces corev1.NamespaceList
	l.Must(l.List(l.Context(), &spaces, client.HasLabels{v1alpha1.LabelSourceName}))
	for _, name := range l.names {
		if left := l.spacesOf(spaces.Items, name); len(left) > 0 {
			l.violate("namespace %s is left", left[0].Name)
		}
	}
	l.crowd.recorded.Lock()
	defer l.crowd.recorded.Unlock()
	created := map[string]int{}
	for _, version := range l.crowd.versions {
		created[version]++
	}
	for _, version := range []string{"v1.31.0", "v1.32.0"} {
		if want := labWorkers * len(l.names); created[version] != want {
			l.violate("%d machines were created with %s, %d are wanted", created[version], version, want)
		}
	}
}

func (l *lab) report() {
	l.Helper()
	l.gate.mu.Lock()
	l.Logf("%d deaths of %d points, dead: %t", len(l.gate.deaths), len(l.gate.seen), l.gate.lost)
	for _, at := range l.gate.deaths {
		l.Logf("  died %s", at)
	}
	l.gate.mu.Unlock()
	for _, sentence := range l.violations {
		l.Error(sentence)
	}
}
