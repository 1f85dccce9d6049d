// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// abreast is how many clusters go through trials at the same time.
const abreast = 3

// tries is how often a command is repeated that has to succeed now that nothing
// goes wrong any more.
const tries = 3

// record is what the tests of this run have found.
type record struct {
	table
	lanes chan struct{}
	seed  int64
}

var found = sync.OnceValue(func() *record { return &record{lanes: make(chan struct{}, abreast)} })

func TestMain(m *testing.M) {
	code := m.Run()
	found().print(os.Stdout)
	os.Exit(code)
}

// seedOf is the seed that a text has, and any for none.
func seedOf(text string) (int64, error) {
	if text == "" {
		return time.Now().UnixNano(), nil
	}
	return strconv.ParseInt(text, 10, 64)
}

func TestSeedThatIsNoNumberIsRefused(t *testing.T) {
	if n, err := seedOf("17"); n != 17 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := seedOf("seventeen"); err == nil {
		t.Errorf("it is taken for %d", n)
	}
}

// wantsAll reports whether BUTLER_TEST_FAULTS=all or -run requests more than the sample.
func wantsAll() bool { return everything() || flag.Lookup("test.run").Value.String() != "" }

func everything() bool { return os.Getenv("BUTLER_TEST_FAULTS") == "all" }

// TestFaults runs each trial on a cluster of its own.
func TestFaults(t *testing.T) {
	var err error
	if found().seed, err = seedOf(os.Getenv("BUTLER_TEST_SEED")); err != nil {
		t.Fatalf("BUTLER_TEST_SEED: %v", err)
	}
	t.Logf("BUTLER_TEST_SEED=%d", found().seed)
	chosen := 0
	for i, p := range platforms() {
		for _, tr := range trials(p) {
			if !tr.sample.includes(i) && !wantsAll() || !tr.meets(i) && everything() {
				continue
			}
			t.Run(p.name+"/"+tr.name, func(t *testing.T) {
				chosen++
				t.Parallel()
				found().lanes <- struct{}{}
				defer func() { <-found().lanes }()
				a := newAdm(t, p.in(tr.namespace), "")
				if !wantsAll() {
					tr = tr.thinned(found().seed)
				}
				a.endure(tr)
			})
		}
	}
	if chosen == 0 {
		t.Fatal("no trial fits -run")
	}
}

// endure is a trial from nothing to nothing.
func (a *adm) endure(tr trial) {
	var rows []row
	defer func() {
		for i := range rows {
			rows[i].failed = rows[i].failed || a.Failed()
			a.Logf("%s, %s: %s", rows[i].operation, rows[i].fault, rows[i].what)
		}
		found().add(rows...)
	}()
	rows = append(rows, a.make(tr)...)
	if a.Failed() {
		return
	}
	a.expectReady()
	rows = append(rows, a.unmake(tr)...)
	if !a.Failed() {
		a.expectNothingLeft(tr.kept)
		a.expectNoSecret()
	}
}

// make brings the cluster to Ready.
func (a *adm) make(tr trial) (rows []row) {
	for _, c := range tr.commands {
		if !c.destroy && !a.Failed() {
			rows = append(rows, a.suffer(c, a.bootstrap())...)
		}
	}
	rows = append(rows, a.killAtRandom(bootstrap, tr.random, a.bootstrap())...)
	a.carryThrough(a.bootstrap(), rows)
	return rows
}

// unmake brings it to nothing.
func (a *adm) unmake(tr trial) (rows []row) {
	for _, c := range tr.commands {
		if c.destroy && !a.Failed() {
			rows = append(rows, a.suffer(c, a.destroy())...)
		}
	}
	if tr.homes != (homes{}) {
		return a.destroyFromTwoHomes(tr.homes)
	}
	if tr.calledOff {
		a.carryThrough(a.bootstrap(), rows)
		a.expectReady()
	}
	rows = append(rows, a.killAtRandom(destroy, tr.random, a.destroy())...)
	a.carryThrough(a.destroy(), rows)
	return rows
}

// suffer runs a command while its faults happen.
func (a *adm) suffer(c command, args []string) (rows []row) {
	began := time.Now()
	orders, before := a.orders(c), len(a.tallies())
	p := a.start(orders, args...)
	for i, b := range c.blows {
		if b.rivals {
			a.expectRefused(p, b, a.planFile(i, b))
		}
	}
	r := a.wait(p)
	a.expectNoViolation()
	plans := a.tallies()
	plans = plans[min(before, len(plans)):]
	for i, b := range c.blows {
		what, err := b.judge(strings.Split(orders, ",")[i], r, &plans)
		if err != nil {
			a.Errorf("%s: %v: exit %d\n%s%s", b.fault, err, r.code, r.out, r.err)
		}
		if what != "" {
			rows = append(rows, row{operation: b.operation, fault: b.fault, provider: a.name, what: what, took: time.Since(began)})
		}
	}
	if len(rows) == 0 {
		a.Errorf("nothing happened to %s: exit %d\n%s%s", args[0], r.code, r.out, r.err)
	}
	return rows
}

// expectRefused has others try the same while a command is held.
func (a *adm) expectRefused(p *process, b blow, held string) {
	defer os.Remove(held)
	if err := await(a.Context(), func() bool { return exists(held) || p.over() }); err != nil || p.over() {
		a.Errorf("%s: the command was not held: %v\n%s", b.fault, err, p.err.String())
		return
	}
	for _, rival := range [][]string{a.bootstrap(), a.destroy()} {
		r := a.run("", rival...)
		if want := fmt.Sprintf("(pid %d", p.Process.Pid); r.code != 1 || !strings.Contains(r.err, want) {
			a.Errorf("a second %s: exit %d without %q\n%s", rival[0], r.code, want, r.err)
		}
	}
}

func (p *process) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// killAtRandom kills a command some time after its start, a few times.
func (a *adm) killAtRandom(o operation, times int, args []string) (rows []row) {
	random := rand.New(rand.NewPCG(uint64(found().seed), uint64(len(o))))
	for range times {
		after := time.Duration(500+random.IntN(9500)) * time.Millisecond
		if o == destroy {
			after /= 2
		}
		began := time.Now()
		p := a.start("", args...)
		timer := time.AfterFunc(after, func() { _ = p.Process.Kill() })
		r := a.wait(p)
		timer.Stop()
		a.expectNoViolation()
		what := "killed"
		if !r.killed {
			what = "was done before"
		}
		rows = append(rows, row{o, fmt.Sprintf("SIGKILL after %s", after), a.name, what, time.Since(began), a.Failed()})
	}
	return rows
}

// carryThrough repeats a command until it succeeds: nothing goes wrong any more.
func (a *adm) carryThrough(args []string, rows []row) {
	if a.Failed() {
		return
	}
	var r result
	for n := 1; n <= tries; n++ {
		if r = a.run("", args...); r.code == 0 {
			break
		}
		a.expectNoViolation()
	}
	if r.code != 0 {
		a.Errorf("%s does not come to its end: exit %d\n%s%s", args[0], r.code, r.out, r.err)
	}
	a.expectNoViolation()
	for i := range rows {
		rows[i].failed = a.Failed()
		if rows[i].what == "killed" && r.code == 0 {
			rows[i].what = "killed, then came through"
		}
	}
}
