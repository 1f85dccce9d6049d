// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// copied is another operator with a copy of the state directory, on the same platform.
func (a *adm) copied() *adm {
	a.Helper()
	b := newAdm(a.T, a.platform, "")
	b.said = a.said
	if out, err := exec.Command("cp", "-a", filepath.Join(a.home, "rehearsals"), b.home).CombinedOutput(); err != nil {
		a.Fatalf("copy the state directory: %v\n%s", err, out)
	}
	if err := os.RemoveAll(b.state("sim")); err != nil {
		a.Fatal(err)
	}
	if err := os.Symlink(a.state("sim"), b.state("sim")); err != nil {
		a.Fatal(err)
	}
	return b
}

// homes is a rivalry of two with copies of one state directory.
type homes struct {
	// held is where the first waits until the second has ended.
	held string
	// order is what happens to the second; if it is killed, that is when it is in
	// charge of the cluster.
	order string
}

// destroyFromTwoHomes has two destroy the cluster at once. One of them gets it; the
// other is refused, and finds nothing left once it does what the error says.
func (a *adm) destroyFromTwoHomes(h homes) []row {
	began := time.Now()
	b := a.copied()
	file := filepath.Join(a.tmp, "held")
	p := a.start("hold="+file+"@"+h.held, a.destroy()...)
	if err := await(a.Context(), func() bool { return exists(file) || p.over() }); err != nil || p.over() {
		p.end()
		a.Fatalf("the first was not held: %v\n%s", err, p.err.String())
	}
	second := b.run(h.order, b.destroy()...)
	if err := os.Remove(file); err != nil {
		a.Error(err)
	}
	first := a.wait(p)
	a.expectNoViolation()
	winner, loser, refused := a, b, second
	if h.order != "" {
		winner, loser, refused = b, a, first
	}
	if refused.code != 1 || second.killed != (h.order != "") {
		a.Errorf("the first ended with %d:\n%s%s\nthe second with %d:\n%s%s", first.code, first.out, first.err, second.code, second.out, second.err)
	}
	winner.carryThrough(winner.destroy(), nil)
	loser.expectGone()
	return []row{{operation: destroy, fault: "two homes, the first at " + h.held, provider: a.name, what: "reported: " + refused.lastWords(), took: time.Since(began)}}
}

// expectGone asks for a cluster that another one has destroyed.
func (a *adm) expectGone() {
	a.Helper()
	const advice = "butleradm destroy " + cluster + " --orphans"
	if r := a.run("", a.destroy()...); r.code != 1 || !strings.Contains(r.lastWords(), advice) {
		a.Errorf("exit %d without %q\n%s%s", r.code, advice, r.out, r.err)
	}
	if r := a.run("", append(a.destroy(), "--orphans")...); r.code != 0 || !strings.Contains(r.out, "left 0") {
		a.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
}
