// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/butlerdotdev/butler/internal/sim/fault"
)

// pretend answers a call as if it had been carried out: instances end, and do not.
func (a *AWS) pretend(w http.ResponseWriter, r *http.Request) {
	q := read(r)
	result := fields{"return", true}
	if q.operation == "TerminateInstances" {
		var changes items
		for _, id := range q.params.List("InstanceId") {
			changes = append(changes, fields{"instanceId", id, "currentState", showState(shuttingDown), "previousState", showState(running)})
		}
		result = fields{"instancesSet", changes}
	}
	q.answer(w, result)
}

// Note implements fault.Past.
func (a *AWS) Note(moment time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.past[moment] == nil {
		a.past[moment] = a.st.snapshot()
	}
}

// Answer implements fault.Past.
func (a *AWS) Answer(w http.ResponseWriter, r *http.Request, moment time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	then := a.past[moment]
	if then == nil {
		then = a.st
	}
	a.respond(w, r, then)
}

// Prepare implements facade.API. The second platform is another account, with what the
// seed names and the same credentials, in which nothing can run.
func (a *AWS) Prepare(_ context.Context, p fault.Plan) error {
	if !p.Has(fault.SecondPlatform) {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.second != nil {
		return nil
	}
	o := a.options
	o.Dir, o.Faults, o.Auditor, o.Network = filepath.Join(o.Dir, "second"), nil, nil, nil
	second, err := newAWS(o, a.seed, secondAccount, false)
	if err != nil {
		return fmt.Errorf("start the second platform: %w", err)
	}
	second.st.principals, second.st.sessions, second.mu = a.st.principals, a.st.sessions, a.mu
	a.second = second
	return nil
}

func (a *AWS) serveSecond(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	second := a.second
	a.mu.Unlock()
	if second == nil {
		http.Error(w, "the second platform does not run", http.StatusServiceUnavailable)
		return
	}
	second.ServeHTTP(w, r)
}

// clone copies an instance that runs, if the fault plan says so, as a restore from a
// backup does: with all tags but its name, and switched off.
func (a *AWS) clone(i *instance) {
	if i.Copy || !a.options.Faults.Cloned(i.machineName()) {
		return
	}
	a.copyInstance(i, func(t tags) tags {
		out := maps.Clone(t)
		if rest, found := strings.CutPrefix(t["Name"], i.machineName()); found {
			out["Name"] = i.machineName() + "-clone" + rest
		}
		return out
	})
}

// copyInstance creates a stopped copy with volumes and an interface of its own, whose tags
// are those of the original after a change.
func (a *AWS) copyInstance(i *instance, change func(tags) tags) {
	c := &call{AWS: a, st: a.st, now: time.Now()}
	copied := *i
	copied.ID, copied.Reservation, copied.State, copied.Copy, copied.Token, copied.Tags = newID("i"), newID("r"), stopped, true, "", change(i.Tags)
	copied.Launched, copied.Transition = c.now, ""
	a.st.instances.Put(copied.ID, &copied) // its parts are known as copies by it
	for _, v := range c.disks(i.ID) {
		c.attachVolume(&copied, *v, change(v.Tags))
	}
	from := c.primary(i)
	n := c.newInterface(a.st.subnets.ByID[i.Subnet], from.Groups)
	n.Instance, n.DeleteOnTermination, n.Tags = copied.ID, true, change(from.Tags)
	a.st.interfaces.Put(n.ID, n)
	copied.Interfaces = []string{n.ID}
	a.st.instances.Put(copied.ID, &copied)
	a.auditInterface(n)
}

// drainLater restarts the machine of an instance when the fault plan drains its host.
func (a *AWS) drainLater(i *instance) {
	after, hit := a.options.Faults.DrainedAfter(i.machineName())
	if !hit {
		return
	}
	a.later(after, func() {
		if i.State == running {
			a.restart(i)
		}
	})
}

// followPlans has the faults of a new plan happen to the machines that run.
func (a *AWS) followPlans() {
	replaced := a.options.Faults.Replaced()
	for {
		select {
		case <-a.ctx.Done():
			return
		case <-replaced:
		}
		replaced = a.options.Faults.Replaced()
		a.mu.Lock()
		for _, i := range a.st.instances.Where(func(i *instance) bool { return i.State == running }) {
			a.clone(i)
			a.drainLater(i)
		}
		a.mu.Unlock()
	}
}

// createConflict creates a stopped instance of a name, without an owner.
func (a *AWS) createConflict(_ context.Context, name string) (func(context.Context) error, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := &call{AWS: a, st: a.st, now: time.Now()}
	images, subnets := a.st.images.Where(c.visible), a.st.subnets.Where(func(s *subnet) bool { return s.VPC == a.seed.VPC })
	taken := a.st.instances.Where(func(i *instance) bool { return i.name() == name && i.State != terminated })
	if len(images) == 0 || len(subnets) == 0 || len(taken) > 0 {
		return nil, nil
	}
	i := &instance{
		ID: newID("i"), Reservation: newID("r"), Type: "m5.large", Image: images[0].ID, State: stopped, Launched: c.now, Subnet: subnets[0].ID,
		Zone: subnets[0].Zone, VPC: subnets[0].VPC, RootDevice: images[0].RootDevice, Shutdown: "stop",
		Metadata: metadataOptions{"optional", "enabled", "disabled", "disabled", 1}, Tags: tags{"Name": name},
	}
	n := c.newInterface(subnets[0], nil)
	n.Instance, n.DeleteOnTermination = i.ID, true
	a.st.interfaces.Put(n.ID, n)
	i.Interfaces = []string{n.ID}
	a.st.instances.Put(i.ID, i)
	return func(context.Context) error {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.terminate(i, "Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown", "User initiated")
		return nil
	}, nil
}
