// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package ipallocation

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/butlerdotdev/butler/api/v1alpha1"
)

// The lives of the lab in which nothing is left to chance.
const (
	lateRelease  = "a release that was decided before the address was planned again"
	lateDeletion = "a deletion that was decided before the address was claimed again"
	foreignPlan  = "an old plan that is given up while a machine uses a part of it"
)

// written are lives with a slow and a quick controller.
var written = map[string]func(l *lab, slow, quick *actor){
	lateRelease:  (*lab).lateRelease,
	lateDeletion: (*lab).lateDeletion,
	foreignPlan:  (*lab).foreignPlan,
}

// play lets a written life happen. It returns what went wrong.
func (l *lab) play(life func(l *lab, slow, quick *actor)) string {
	life(l, l.actors[0], l.actors[1])
	l.settle()
	return l.wrong
}

// lateRelease has the claim of an allocation that was lost. While one controller is about to
// release it, another one that does not see it plans the address for an allocation of that name.
func (l *lab) lateRelease(slow, quick *actor) {
	l.allocate(quick, "a-0")
	l.lose(l.allocation("a-0"))
	l.add("a-0", 1, "")
	slow.see(true, true)
	slow.until("10.0.0.1", "patch 10.0.0.1")
	blind := l.actors[2]
	blind.see(true, false)
	blind.finish("a-0")
	slow.finish("10.0.0.1")
	l.compete(quick)
}

// lateDeletion has an address that has rested. While one controller is about to delete its
// claim, another one does so and claims the address again.
func (l *lab) lateDeletion(slow, quick *actor) {
	l.allocate(quick, "a-0")
	l.note("a-0 is deleted")
	_ = l.api.Delete(context.Background(), l.allocation("a-0"))
	quick.see(true, true)
	quick.finish("a-0")
	quick.see(true, true)
	slow.see(true, true)
	slow.until("10.0.0.1", "delete 10.0.0.1")
	quick.finish("10.0.0.1")
	l.allocate(quick, "a-0")
	slow.finish("10.0.0.1")
	l.compete(quick)
}

// foreignPlan has an allocation that was lost while its machine runs, and an old copy of it
// whose plan has the address of the machine and one of another.
func (l *lab) foreignPlan(_, quick *actor) {
	l.allocate(quick, "a-0")
	l.use(l.allocation("a-0"))
	l.allocate(quick, "a-1")
	l.lose(l.allocation("a-0"))
	l.add("a-0", 2, "10.0.0.1-10.0.0.2")
	quick.see(true, true)
	quick.finish("a-0")
	l.allocate(quick, "a-2")
}

// compete lets the machine of the first allocation have its address, and a second one ask for one.
func (l *lab) compete(quick *actor) {
	l.use(l.allocation("a-0"))
	quick.see(true, true)
	if _, ok := quick.claims["10.0.0.1"]; ok {
		quick.finish("10.0.0.1")
	}
	l.allocate(quick, "a-1")
}

// allocate creates an allocation of one address, which a controller allocates.
func (l *lab) allocate(by *actor, name string) {
	l.add(name, 1, "")
	by.see(true, true)
	by.finish(name)
}

func (l *lab) allocation(name string) *v1alpha1.IPAllocation {
	a := &v1alpha1.IPAllocation{}
	if err := l.api.Get(context.Background(), client.ObjectKey{Namespace: labNamespace, Name: name}, a); err != nil {
		l.violate("%s", err)
	}
	return a
}
