// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
	"github.com/butlerdotdev/butler/internal/sim"
	"github.com/butlerdotdev/butler/internal/sim/audit"
	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// machines is how many the manifests have.
const machines = 2

// expectNoViolation asks the platform's own record.
func (a *adm) expectNoViolation() {
	a.Helper()
	all, err := sim.Violations(a.state("sim"))
	if err != nil {
		a.Errorf("the record of violations: %v", err)
	}
	for _, v := range all {
		a.Errorf("%s: %s", v.Invariant, v.Message)
	}
}

// left counts what the platform holds with an owner's tags.
func (a *adm) left() (all []audit.Object, n map[fault.Resource]int) {
	a.Helper()
	all, err := sim.Left(a.Context(), a.state("sim"))
	if err != nil {
		a.Error(err)
	}
	n = map[fault.Resource]int{}
	for _, o := range all {
		n[o.Resource]++
	}
	return all, n
}

// expectReady looks at a cluster that has come through: its machines, and who is in
// charge of it.
func (a *adm) expectReady() {
	a.Helper()
	if all, n := a.left(); n[fault.Machine] != machines || n[fault.Disk] != machines {
		a.Errorf("the platform holds %+v", all)
	}
	kubeconfig := a.run("", "kubeconfig", cluster)
	if kubeconfig.code != 0 {
		a.Errorf("kubeconfig: %s", kubeconfig.err)
		return
	}
	there, err := a.planeOf([]byte(kubeconfig.out))
	if err != nil {
		a.Error(err)
		return
	}
	a.withLocalPlane(func(here client.Client) {
		fencedHere, fencedThere := a.fenced(here), a.fenced(there)
		if !fencedHere || fencedThere {
			a.Errorf("one plane has to be in charge, the cluster's: fenced here %t, there %t", fencedHere, fencedThere)
		}
		a.takeIn(here)
		a.expectNoSecretShown(here)
		a.expectNoSecretShown(there)
	})
}

// fenced says whether a plane is kept from acting on the cluster.
func (a *adm) fenced(c client.Client) bool {
	a.Helper()
	cb := &v1alpha1.ClusterBootstrap{}
	if err := c.Get(a.Context(), client.ObjectKey{Namespace: a.namespace, Name: cluster}, cb); err != nil {
		a.Error(err)
	}
	return cb.Annotations[v1alpha1.AnnotationFenced] != ""
}

// expectNothingLeft asks the record and the platform itself, as its administrator.
// Copies of these names have to be there, and destroy has to have named them.
func (a *adm) expectNothingLeft(kept []string) {
	a.Helper()
	if r := a.run("", "sim", "check", "--empty"); r.code != 0 {
		a.Errorf("no-orphan: %s%s", r.out, r.err)
	}
	found, err := a.objects(a.Context(), a.state("sim/"+a.admin))
	if err != nil {
		a.Error(err)
		return
	}
	for kind, names := range found {
		a.expectCopiesAlone(kind, names, kept)
	}
}

// expectCopiesAlone demands that of one kind there are copies alone, of which each
// belongs to one of these machines.
func (a *adm) expectCopiesAlone(kind string, all, kept []string) {
	a.Helper()
	said := strings.Join(strings.Fields(a.said.String()), " ") // lines are broken anywhere
	for _, name := range kept {
		if !slices.ContainsFunc(all, func(o string) bool { return strings.HasPrefix(o, name) }) {
			a.Errorf("copies are kept: none of %s is among the %d %s", name, len(all), kind)
		}
		if !strings.Contains(said, name) || !strings.Contains(said, "not created by Butler") {
			a.Errorf("destroy does not name the copy %s", name)
		}
	}
	for _, o := range all {
		if !slices.ContainsFunc(kept, func(name string) bool { return strings.HasPrefix(o, name) }) {
			a.Errorf("no-orphan: %s %s is left", kind, o)
		}
	}
}

func (a *adm) planeOf(kubeconfig []byte) (client.Client, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), appsv1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	return client.New(rest.CopyConfig(config), client.Options{Scheme: scheme})
}

// withLocalPlane runs the plane of this machine while f looks at it.
func (a *adm) withLocalPlane(f func(client.Client)) {
	a.Helper()
	p := a.start("", "plane", "--state-dir", a.state("plane"))
	defer func() {
		_ = p.Process.Signal(os.Interrupt) // it may have ended
		a.wait(p)
	}()
	if err := await(context.Background(), func() bool { return strings.Contains(p.out.String(), "ready in") || p.over() }); err != nil || p.over() {
		a.Errorf("the local plane does not start: %v\n%s", err, p.err.String())
		return
	}
	data, err := os.ReadFile(a.state("plane/kubeconfig"))
	if err != nil {
		a.Error(err)
		return
	}
	here, err := a.planeOf(data)
	if err != nil {
		a.Error(err)
		return
	}
	f(here)
}
