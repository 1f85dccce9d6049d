// SPDX-FileCopyrightText: 2026 The Butler Authors
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"slices"
	"time"
)

// userInitiated is the reason of an end that a call asked for.
const userInitiated = "Client.UserInitiatedShutdown"

// change is an instance whose state a call changes.
type change struct {
	instance *instance
	before   string
}

func showChanges(all []change) fields {
	return fields{"instancesSet", items(list(all, func(c change) fields {
		return fields{"instanceId", c.instance.ID, "currentState", showState(c.instance.State), "previousState", showState(c.before)}
	}))}
}

// power returns the instances of a call, which must be in one of the states.
func (c *call) power(states ...string) ([]*instance, error) {
	all, err := c.instancesNamed()
	if err != nil {
		return nil, err
	}
	for _, i := range all {
		if !slices.Contains(states, i.State) {
			return nil, refuse("IncorrectInstanceState", "The instance '%s' is not in a state from which it can be changed: it is %s.", i.ID, i.State)
		}
	}
	return all, c.dryRun()
}

func terminateInstances(c *call) (fields, error) {
	all, err := c.instancesNamed()
	if err != nil {
		return nil, err
	}
	for _, i := range all {
		if i.Protected && i.State != terminated {
			return nil, refuse("OperationNotPermitted", "The instance '%s' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.", i.ID)
		}
	}
	if err := c.dryRun(); err != nil {
		return nil, err
	}
	var changes []change
	for _, i := range all {
		before := i.State
		c.terminate(i, userInitiated, userInitiated+": User initiated shutdown", "User initiated")
		changes = append(changes, change{i, before})
	}
	return showChanges(changes), nil
}

// terminate begins the end of an instance. It is called under lock.
func (a *AWS) terminate(i *instance, reason, text, transition string) {
	if i.State == terminated || i.State == shuttingDown {
		return
	}
	i.State, i.Reason, i.ReasonText = shuttingDown, reason, text
	i.Transition = ""
	if transition != "" {
		i.Transition = transition + time.Now().UTC().Format(" (2006-01-02 15:04:05 GMT)")
	}
	a.st.instances.Put(i.ID, i)
	a.auditInstance(i)
	a.finish(i)
}

// finish ends an instance that is shutting down: its machine, and then its parts.
func (a *AWS) finish(i *instance) {
	a.Remove(i.ID, a.Options.Create, func() { a.end(i) })
}

// end removes the parts of an instance that end with it, and keeps the others.
func (a *AWS) end(i *instance) {
	i.State, i.Ended = terminated, time.Now()
	for _, v := range a.st.volumes.Where(func(v *volume) bool { return v.Instance == i.ID }) {
		if v.DeleteOnTermination {
			a.st.volumes.Remove(v.ID)
			a.auditGone(v.ID)
			continue
		}
		v.Instance, v.Device = "", ""
		a.st.volumes.Put(v.ID, v)
	}
	for _, n := range a.st.interfaces.Where(func(n *networkInterface) bool { return n.Instance == i.ID }) {
		if n.DeleteOnTermination {
			a.st.interfaces.Remove(n.ID)
			a.auditGone(n.ID)
			continue
		}
		n.Instance, n.Public = "", ""
		a.st.interfaces.Put(n.ID, n)
	}
	a.releasePublic(i.ID)
	i.Interfaces, i.UserData = nil, nil
	a.st.instances.Put(i.ID, i)
	a.auditInstance(i)
	a.Later(listed, func() { a.st.instances.Remove(i.ID) })
}

// fail ends an instance that could not be launched.
func (a *AWS) fail(i *instance) {
	a.terminate(i, "Server.InternalError", "Server.InternalError: Internal error on launch", "Server.InternalError")
}

func stopInstances(c *call) (fields, error) {
	all, err := c.power(running, stopping, stopped)
	if err != nil {
		return nil, err
	}
	for _, i := range all {
		if i.Stubborn {
			return nil, refuse("OperationNotPermitted", "The instance '%s' may not be stopped. Modify its 'disableApiStop' instance attribute and try again.", i.ID)
		}
	}
	var changes []change
	for _, i := range all {
		before := i.State
		if i.State == running {
			c.stop(i, userInitiated, userInitiated+": User initiated shutdown", "User initiated")
		}
		changes = append(changes, change{i, before})
	}
	return showChanges(changes), nil
}

// stop switches the machine of an instance off. It is called under lock.
func (a *AWS) stop(i *instance, reason, text, transition string) {
	i.State, i.Reason, i.ReasonText, i.Ran = stopping, reason, text, true
	i.Transition = transition + time.Now().UTC().Format(" (2006-01-02 15:04:05 GMT)")
	a.st.instances.Put(i.ID, i)
	a.PowerOff(i.ID, func() {
		if i.State == stopping {
			i.State = stopped
			a.st.instances.Put(i.ID, i)
		}
	})
}

func startInstances(c *call) (fields, error) {
	all, err := c.power(running, pending, stopped)
	if err != nil {
		return nil, err
	}
	var changes []change
	for _, i := range all {
		before := i.State
		if t, _ := c.typeNamed(i.Type); i.State == stopped && i.Copy || i.State == stopped && !c.Hosts {
			return nil, insufficientCapacity(t, i.Zone, c.zones())
		}
		if i.State == stopped {
			i.State, i.Reason, i.ReasonText, i.Transition = pending, "", "", ""
			c.st.instances.Put(i.ID, i)
			c.Later(c.Options.Create, func() { c.boot(i) })
		}
		changes = append(changes, change{i, before})
	}
	return showChanges(changes), nil
}

func rebootInstances(c *call) (fields, error) {
	all, err := c.power(running)
	if err != nil {
		return nil, err
	}
	for _, i := range all {
		c.Restart(c.machine(i))
	}
	return fields{"return", true}, nil
}
